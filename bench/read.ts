import { compare, sameAnswer, send, serverOf, service, type Target } from './harness/harness.js'

const bare = serverOf('bare', 'bench/bare/read.js', [], '/ready')
const path = '/api/projects/mindsdb/skills'
const skills = 100

const create = async (target: Target) => {
  for (let n = 0; n < skills; n++)
    await send(target, 'POST', path, {
      skill: { name: `skill_${n}`, type: 'text2sql', params: { database: 'example_db', tables: ['orders'] } },
    })
}

/** Getting one skill of a hundred by name, 16 connections. */
export const read = async (): Promise<void> => {
  await sameAnswer([service, bare], async (target) => {
    await create(target)
    return send(target, 'GET', `${path}/skill_7`)
  })
  await compare('read', {
    ours: service,
    bare,
    prepare: create,
    load: { connections: 16, seconds: 5, request: (n) => ({ method: 'GET', path: `${path}/skill_${n % skills}` }) },
  })
}
