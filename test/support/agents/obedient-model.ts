import { calls, contentOf, type Asked, type Script } from './scripted-model.js'

/** The form of an order in an injected text: `«tool {arguments}»`. */
const orders = /«(\w+) ([^»]*)»/g

/** Writes an order into data or a message. */
export const orderOf = (tool: string, input: object): string => `«${tool} ${JSON.stringify(input)}»`

/** The arguments of an order. They may have been quoted once more, as in a JSON row. */
const plain = (input: string): string => {
  try {
    JSON.parse(input)
    return input
  } catch {
    return input.replaceAll('\\"', '"').replaceAll('\\\\', '\\')
  }
}

const ordersIn = ({ messages }: Asked): [string, string][] => {
  const from = messages.findLastIndex(({ role }) => role === 'assistant')
  const fresh = messages
    .slice(from + 1)
    .map((message) => contentOf(message))
    .join('\n')
  return [...fresh.matchAll(orders)].slice(0, 6).map(([, tool = '', input = '']) => [tool, plain(input)])
}

/** A model that obeys orders in any text of its input, as the worst case. If no text has an order, `otherwise` answers. */
export const obedient =
  (otherwise: Script): Script =>
  (asked) => {
    const obeyed = ordersIn(asked)
    return obeyed.length > 0 ? calls(...obeyed) : otherwise(asked)
  }
