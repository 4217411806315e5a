kruxos connect slack --client-id <YOUR_CLIENT_ID>
