kruxos disconnect slack
