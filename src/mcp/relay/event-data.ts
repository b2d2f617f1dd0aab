/** The data of one event, its lines joined; undefined for comments, which only keep a connection open. */
const dataOf = (event: string): string | undefined => {
  const data = event.split(/\r\n|\n|\r/).flatMap((line) => (line.startsWith('data:') ? [line.slice(line[5] === ' ' ? 6 : 5)] : []))
  return data.length === 0 ? undefined : data.join('\n')
}

const between = /\r\n\r\n|\n\n|\r\r/

/**
 * The data of server-sent events in the order of their arrival.
 *
 * @example for await (const data of eventData(response.body)) take(JSON.parse(data))
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const piece of body) {
    const events = (held + decoder.decode(piece, { stream: true })).split(between)
    held = events.pop() ?? ''
    for (const event of events) {
      const data = dataOf(event)
      if (data !== undefined && data !== '') yield data
    }
  }
}
