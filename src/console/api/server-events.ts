export type ServerEvent = { id: string | undefined; data: string }

/**
 * The server-sent events of a response, as they arrive.
 *
 * @example for await (const { data } of serverEvents(response)) show(JSON.parse(data))
 */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent, void, void> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += value
      const messages = text.split('\n\n')
      text = messages.pop() ?? ''
      for (const message of messages) {
        const data = [...message.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join('\n')
        yield { id: /^id: ?(.*)$/m.exec(message)?.[1], data }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
