# A stack of the network team, with an edge that is open to the internet.
mkdir shop
cat >shop/edgewise.yaml <<'YAML'
apiVersion: edgewise/v1
kind: Stack
metadata:
  name: shop
  labels: { team: network }
spec:
  api: { base_url: "embedded:" }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: orders
  labels: { team: shop }
spec:
  hostports: ["1.tcp.example.net:20001"]
  backend: { backend_id: bkdhr_orders }
YAML
