import { compare, sameAnswer, send, serverOf, service } from './harness/harness.js'

const bare = serverOf('bare', 'bench/bare/write.js', [], '/ready')
const path = '/api/projects/mindsdb/skills'
const skill = (name: string) => ({
  skill: { name, type: 'text2sql', params: { database: 'example_db', tables: ['orders', 'items'], description: 'sales' } },
})

/** Creating skills over HTTP, 64 connections, each answered when it is durable. */
export const write = async (): Promise<void> => {
  await sameAnswer([service, bare], (target) => send(target, 'POST', path, skill('same')))
  const run = Date.now().toString(36)
  await compare('write', {
    ours: service,
    bare,
    prepare: async () => undefined,
    load: {
      connections: 64,
      seconds: 5,
      request: (n) => ({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(skill(`${run}_${n}_${Math.random()}`)),
      }),
    },
  })
}
