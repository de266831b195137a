# An applied stack, a field that another user changed, and a changed manifest.
export EDGEWISE_BASE_URL=embedded:account.json
cat >edge.yaml <<'YAML'
apiVersion: edgewise/v1
kind: Stack
metadata: { name: shop }
---
apiVersion: edgewise/v1
kind: TCPEdge
metadata: { name: postgres }
spec:
  description: Postgres for the data team
  hostports: ["1.tcp.example.net:20001"]
  backend: { backend_id: bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt }
YAML
edgewise apply edge.yaml --yes
sed -i.bak 's|1.tcp.example.net:20001|1.tcp.example.net:20066|' account.json
sed -i.bak 's|Postgres for|Postgres of|' edge.yaml
