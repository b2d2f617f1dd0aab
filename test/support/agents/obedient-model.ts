import { calls, contentOf, type Asked, type Script } from './scripted-model.js'

/** What an injected text makes the model do: `«tool {arguments}»`. */
const orders = /«(\w+) ([^»]*)»/g

/** How an order is written into data or a message. */
export const orderOf = (tool: string, input: object): string => `«${tool} ${JSON.stringify(input)}»`

/** The arguments may have been quoted once more on their way, as in a row of JSON. */
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

/** The worst model: it does whatever any text tells it, wherever the text stands. What no text orders, `otherwise` answers. */
export const obedient =
  (otherwise: Script): Script =>
  (asked) => {
    const obeyed = ordersIn(asked)
    return obeyed.length > 0 ? calls(...obeyed) : otherwise(asked)
  }
