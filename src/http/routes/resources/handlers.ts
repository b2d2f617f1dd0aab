import * as z from 'zod'
import { notFound, Problem } from '../../../basics/errors.js'
import { knownHandlers, type Handler } from '../../../catalogue/engines.js'
import { json } from '../../protocol/reply.js'
import { route, type Route } from '../../protocol/route.js'

const record = z
  .object({
    name: z.string(),
    type: z.enum(['ml', 'data']),
    title: z.string(),
    description: z.string(),
    version: z.string(),
    connection_args: z.null(),
    import: z.object({ success: z.boolean(), error_message: z.string().nullable() }),
  })
  .meta({ id: 'Handler' })
const path = '/handlers'

const shown = ({ unavailable, ...handler }: Handler) => ({
  ...handler,
  version: '1.0.0',
  connection_args: null,
  import: { success: unavailable === null, error_message: unavailable },
})

const handlerNamed = (name: string): Handler => {
  const handler = knownHandlers.find((known) => known.name === name.toLowerCase())
  if (!handler) throw notFound('handler', name)
  return handler
}

/** The routes for the names of engines. A running service installs nothing. */
export const handlerRoutes = (): Route[] => [
  route({
    method: 'get',
    path,
    summary: 'List all names of engines: engines that train, formats that can be read, and systems of connections',
    answers: { 200: z.array(record) },
    async handle() {
      return json(knownHandlers.map(shown))
    },
  }),
  route({
    method: 'get',
    path: `${path}/:handler`,
    summary: 'Get one of them',
    answers: { 200: record },
    async handle({ segments: { handler } }) {
      return json(shown(handlerNamed(handler)))
    },
  }),
  route({
    method: 'post',
    path: `${path}/:handler/install`,
    summary: 'Refused where something would have to be installed',
    answers: { 200: z.literal('Installed') },
    async handle({ segments: { handler } }) {
      const { title, unavailable } = handlerNamed(handler)
      if (unavailable !== null)
        throw new Problem('not_built', 'Not available', `nothing is installed by a running service: ${unavailable}`, {
          hint: `Export the data from ${title} and upload it: PUT /api/files/<name>.`,
        })
      return json('Installed')
    },
  }),
]
