import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** The answer of a tool, as tests read it. */
export type ToolAnswer = { text: string; data: Record<string, unknown> | undefined; isError: boolean; meta: Record<string, unknown> }

/** The operations of a client in tests, for both generations of clients. */
export type McpClient = {
  tools: () => Promise<{ name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined }[]>
  call: (name: string, args?: Record<string, unknown>, signal?: AbortSignal) => Promise<ToolAnswer>
  resources: () => Promise<{ uri: string; name: string }[]>
  templates: () => Promise<{ uriTemplate: string }[]>
  read: (uri: string) => Promise<unknown>
  close: () => Promise<void>
}

const about = { name: 'test', version: '1' }

type Called = { content?: unknown; structuredContent?: unknown; isError?: unknown; _meta?: unknown }

const answerOf = ({ content, structuredContent, isError, _meta }: Called): ToolAnswer => ({
  text: (content as { text: string }[])[0]?.text ?? '',
  data: structuredContent as Record<string, unknown> | undefined,
  isError: isError === true,
  meta: (_meta ?? {}) as Record<string, unknown>,
})

const jsonIn = ([content]: readonly object[]): unknown => JSON.parse(String(content && Reflect.get(content, 'text')))

/** The options of a call that may be cancelled. */
const until = (signal: AbortSignal | undefined) => (signal ? { signal } : {})

/** The client of the first generation, `@modelcontextprotocol/sdk`. */
export const oldClient = async (url: string, headers: Record<string, string> = {}): Promise<McpClient> => {
  const client = new OldClient(about)
  await client.connect(new OldTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, signal) => answerOf(await client.callTool({ name, arguments: args }, undefined, until(signal))),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => jsonIn((await client.readResource({ uri })).contents),
    close: () => client.close(),
  }
}

/**
 * The client of the second generation. By default its mode is `legacy`; with the other mode it speaks the newer revision of the protocol.
 */
export const newClient = async (
  url: string,
  mode: 'legacy' | { pin: string },
  headers: Record<string, string> = {},
): Promise<McpClient> => {
  const client = new NewClient(about, { versionNegotiation: { mode } })
  await client.connect(new NewTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}, signal) => answerOf(await client.callTool({ name, arguments: args }, until(signal))),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => jsonIn((await client.readResource({ uri })).contents),
    close: () => client.close(),
  }
}

/** All clients, by a name for the test. */
export const generations: readonly { name: string; connect: (url: string, headers?: Record<string, string>) => Promise<McpClient> }[] = [
  { name: 'the first generation', connect: oldClient },
  { name: 'the second, in the older revision', connect: (url, headers) => newClient(url, 'legacy', headers) },
  { name: 'the second, in revision 2026-07-28', connect: (url, headers) => newClient(url, { pin: '2026-07-28' }, headers) },
]
