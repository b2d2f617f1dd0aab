import { engineInfos } from './engines.js'
import { connectionEngines, whyNotOpened } from './connection-engines.js'

/** What an engine's name stands for. `unavailable` says why a known engine cannot be used. */
export type Handler = { name: string; type: 'ml' | 'data'; title: string; description: string; unavailable: string | null }

const own: readonly Handler[] = [
  ...engineInfos.map(({ name, title, about }): Handler => ({ name, type: 'ml', title, description: about, unavailable: null })),
  { name: 'files', type: 'data', title: 'Files', description: 'Reads uploaded files.', unavailable: null },
]

/** The handlers that CREATE ML_ENGINE may name. */
export const trainingHandlers: readonly string[] = own.flatMap(({ name, type }) => (type === 'ml' ? [name] : []))

/** Everything that can be named as an engine: training engines, readable formats, and the systems that a connection may name. */
export const knownHandlers: readonly Handler[] = [
  ...own,
  ...[...connectionEngines].map(([name, title]): Handler => {
    const description = `Keeps a connection to ${title} with its secrets encrypted, for those who read it over REST.`
    return { name, type: 'data', title, description, unavailable: whyNotOpened(name) }
  }),
]
