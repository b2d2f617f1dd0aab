import { createServer, type RequestListener, type Server } from 'node:http'
import { limits } from '../limits.js'

export type ServerLimits = {
  connectionsMax: number
  requestHeadersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
}

/** The HTTP server with its limits. What is beyond them never reaches a route: Node closes the connection, or answers 408. */
export const createHttpServer = (app: RequestListener, bounds: ServerLimits = limits): Server => {
  const server = createServer(
    {
      headersTimeout: bounds.requestHeadersTimeoutMs,
      requestTimeout: bounds.requestTimeoutMs,
      keepAliveTimeout: bounds.keepAliveTimeoutMs,
      // Timeouts are looked at so often, and no more exact than that.
      connectionsCheckingInterval: Math.min(30_000, bounds.requestHeadersTimeoutMs),
    },
    app,
  )
  server.maxConnections = bounds.connectionsMax
  return server
}
