# The shortest stack: one edge.
mkdir shop
cat >shop/edgewise.yaml <<'YAML'
apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: postgres }
spec:
  hostports: ["1.tcp.example.net:20001"]
  backend: { backend_id: bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt }
YAML
