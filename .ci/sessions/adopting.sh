# An account with resources that were created by hand, and one edge of another stack.
cat >account.json <<'JSON'
{
  "resources": {
    "TCPEdge": [
      {
        "id": "edgtcp_2k9XLR3nGNPfyoIk0A3yD8vPq7M",
        "description": "Postgres for the data team",
        "metadata": "{\"team\":\"data\"}",
        "hostports": ["1.tcp.example.net:20001"],
        "backend": { "backend_id": "bkdwd_2k9XLRB5nmx6wKn1qWqHy0YhAaT" },
        "policy": {
          "inbound": [
            {
              "name": "office only",
              "expressions": ["!(conn.client_ip in [\n  \"192.0.2.1\", // Berlin\n  \"192.0.2.2\", // Oslo\n])"],
              "actions": [{ "type": "deny" }]
            }
          ]
        }
      },
      {
        "id": "edgtcp_2k9XLSSJ0VYBkAfVwYyJYvXz5wC",
        "metadata": "{\"edgewise\":{\"stack\":\"billing\",\"name\":\"ledger\"}}",
        "hostports": ["1.tcp.example.net:20002"]
      }
    ],
    "WeightedBackend": [
      {
        "id": "bkdwd_2k9XLRB5nmx6wKn1qWqHy0YhAaT",
        "description": "Postgres pool",
        "backends": { "bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt": 90, "bkdhr_2k9XLQdTnSXvQJzqDPzZxhCBmHm": 10 }
      }
    ],
    "Credential": [
      { "id": "cr_2k9XLTgkzKpiZ6nEoVzVn5e1wqR", "description": "Build agent", "acl": ["bind:*.build.example.com"] }
    ]
  }
}
JSON
