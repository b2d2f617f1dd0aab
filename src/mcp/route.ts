/**
 * Room: the Model Context Protocol over HTTP. It imports only events, basics, log, models/serving, sql/facade, agents/contract, http,
 * mcp/tool-parts and mcp/tools.
 */

import { v7 as uuidv7 } from 'uuid'
import { isObject } from '../../events/common.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { json, type Reply } from '../http/protocol/reply.js'
import { route, type Route } from '../http/protocol/route.js'
import { jsonRpcRefusal, refusal } from './refusal.js'
import { RunningCalls, type RequestId } from './running-calls.js'
import type { McpService } from './serve.js'
import type { ToolParts } from './tools.js'
import type { Logger } from '../basics/logger.js'

type Message = Readonly<Record<string, unknown>>

/** The messages of a body that are objects: one message, or a batch. */
const messagesOf = (body: unknown): Message[] => (Array.isArray(body) ? body : [body]).filter(isObject)

const isMethod = (method: string) => (message: Message) => message['method'] === method

const idIn = (message: Message): RequestId | undefined => {
  const { params } = message
  const id = isObject(params) ? params['requestId'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

const refuseLongBatch = (body: unknown): void => {
  if (!Array.isArray(body) || body.length <= limits.mcpBatchMaxMessages) return
  throw new Problem('too_large', 'Too large', `the batch has ${body.length} messages; at most ${limits.mcpBatchMaxMessages} are taken`, {
    hint: 'Send them in several requests.',
  })
}

const methodNotFound = -32_601

/** A stream of changes would never end. Clients call the tools to see changes. */
const noSubscriptions = (message: Message): Reply =>
  json(jsonRpcRefusal({ code: methodNotFound, message: 'there are no subscriptions here', id: message['id'] }), { status: 404 })

type Parts = { tools: ToolParts; version: string; logger: Logger }

/**
 * The Model Context Protocol over streamable HTTP, for clients of the revision 2026-07-28 and of older revisions. The first message loads
 * the library of the protocol.
 */
export const mcpRoutes = ({ tools: toolParts, version, logger }: Parts): Route[] => {
  const running = new RunningCalls()
  let service: Promise<McpService> | undefined
  const loaded = async (): Promise<McpService> => {
    const { McpService: Service } = await import('./serve.js')
    return new Service({ toolParts, version, logger, running })
  }
  return [
    route({
      method: 'post',
      path: '/mcp',
      summary: 'Messages of the Model Context Protocol (streamable HTTP, JSON-RPC 2.0), for assistants and their tools',
      bodySize: 'rows',
      answers: { 200: null, 202: null },
      gives: ['application/json', 'text/event-stream'],
      refusal,
      async handle({ call }) {
        const { json: body } = call
        refuseLongBatch(body)
        const messages = messagesOf(body)
        const sent = call.header('mcp-session-id')
        const cancelling = sent === undefined ? [] : messages.filter(isMethod('notifications/cancelled'))
        for (const id of cancelling.map(idIn)) if (id !== undefined && sent !== undefined) running.cancel(sent, id)
        const listening = messages.find(isMethod('subscriptions/listen'))
        if (listening) return noSubscriptions(listening)
        // A client without a session gets one. Its later messages use it to cancel its calls.
        const session = sent ?? uuidv7()
        const origin = call.origin('mcp')
        const reply = await (await (service ??= loaded())).answer({ call, origin, session })
        const begins = sent === undefined && messages.some(isMethod('initialize')) && reply.status === 200
        return begins ? { ...reply, headers: { ...reply.headers, 'Mcp-Session-Id': session } } : reply
      },
    }),
  ]
}
