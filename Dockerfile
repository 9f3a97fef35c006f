# Runs Keyreeve as an unprivileged user that writes only to /data. See docs/operating.md.
FROM node:26-trixie-slim AS build
WORKDIR /app
COPY . .
# The builds need more packages than the service, which gets its own afterwards. Without their stamps, the builds are never checked. The
# image has its own Node, so the pinned ones are removed. The documents are inputs of the builds only.
RUN npm ci --include=dev --ignore-scripts --workspace packages/console --workspace packages/guides \
    --workspace packages/server \
    && node scripts/build.ts \
    && rm -r packages/console/dist/stamp packages/guides/dist/stamp packages/server/dist/stamp docs bench \
    packages/go packages/python \
    && npm ci --omit=dev --ignore-scripts --include-workspace-root --workspace packages/server \
    && rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-bin-* node_modules/node-win-*

FROM node:26-trixie-slim
ENV NODE_ENV=production \
    KEYREEVE_DATABASE_URL=sqlite:/data/keyreeve.db
COPY --from=build /app /app
# A new volume that is mounted on one of these folders gets its owner and mode.
RUN mkdir -m 0700 /data /data/deletions && chown 65532:65532 /data /data/deletions
USER 65532:65532
VOLUME /data
# The second port is that of the docs for KEYREEVE_VERIFY_PORT. Nothing listens on it without that setting.
EXPOSE 8787 8789
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:8788/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/packages/server/bin/keyreeve.js"]
CMD ["serve"]
