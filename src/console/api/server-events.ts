export type ServerEvent = { id: string | undefined; data: string }

/** The values of a field. Only line feeds end a line here: JSON texts may contain other separators of lines, such as U+2028. */
const valuesOf = (message: string, field: 'id' | 'data'): string[] =>
  message.split('\n').flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, '')] : []))

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
        yield { id: valuesOf(message, 'id').at(-1), data: valuesOf(message, 'data').join('\n') }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
