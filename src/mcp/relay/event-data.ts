/** The data of one event, its lines joined; undefined for comments, which only keep a connection open. */
const dataOf = (event: string): string | undefined => {
  const data = event.split(/\r\n|\n|\r/).flatMap((line) => (line.startsWith('data:') ? [line.slice(line[5] === ' ' ? 6 : 5)] : []))
  return data.length === 0 ? undefined : data.join('\n')
}

const between = /\r\n\r\n|\n\n|\r\r/
/** The end of a text that may be the beginning of such a separator. */
const openEnd = -3

/**
 * The data of server-sent events in the order of their arrival.
 *
 * @example for await (const data of eventData(response.body)) take(JSON.parse(data))
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  // The beginning of an event, in pieces, so that an event of many pieces is searched once.
  let begun: string[] = []
  let end = ''
  for await (const piece of body) {
    const events = (end + decoder.decode(piece, { stream: true })).split(between)
    const rest = events.pop() ?? ''
    for (const event of events) {
      const data = dataOf(begun.join('') + event)
      begun = []
      if (data !== undefined && data !== '') yield data
    }
    begun.push(rest.slice(0, openEnd))
    end = rest.slice(openEnd)
  }
}
