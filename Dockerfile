# The command line of edgewise. `npm ci` makes dist/, which is all that the image takes from the checkout:
#   npm ci && docker build --tag edgewise .
#   docker run --rm --read-only --env EDGEWISE_API_KEY --volume "$PWD:/work:ro" edgewise plan manifests
# The digest decides what is pulled; the tag says what it is. Dependabot proposes newer ones.
FROM docker.io/library/node:26.10.0-bookworm-slim@sha256:662933cf47f013bc8e4beb31a6116448427a82057ba7c42c97e4c5ba766504c2

ARG VERSION=0.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="edgewise" \
      org.opencontainers.image.description="A declarative reconciler for network ingress" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"

COPY --chown=0:0 package.json LICENSE /opt/edgewise/
COPY --chown=0:0 dist/cli.js dist/THIRD_PARTY_LICENSES dist/sbom.cdx.json /opt/edgewise/dist/
COPY --chown=0:0 dist/parts /opt/edgewise/dist/parts
RUN ln -s /opt/edgewise/dist/cli.js /usr/local/bin/edgewise

# By number, so that Kubernetes can tell that it is not root.
USER 65532:65532
WORKDIR /work
# For `edgewise serve`, on the port that it has by default. Other commands end before they are asked.
HEALTHCHECK --interval=10s --start-period=5s --timeout=3s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:4750/_edgewise/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["edgewise"]
CMD ["--help"]
