import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../service.js'

/** A running load, and the number of its completed actions of each kind. */
export type Load = { stop: () => Promise<void>; uploads: () => number; writes: () => number; erasures: () => number }

const file = (client: number, n: number): FormData => {
  const form = new FormData()
  const rows = Array.from({ length: 50 + (n % 7) }, (_, row) => `${client},${n},${row}`)
  form.append('file', new Blob([`client,n,row\n${rows.join('\n')}\n`]), 'rows.csv')
  return form
}

const row = { sqft: 800, location: 'good', rooms: 2 }

/**
 * Many clients run concurrently until the load is stopped: a quarter uploads, a quarter lets `rent` predict, one client of each of these
 * quarters also erases some of it again, and the others send commands with secrets. The load also ends when the service ends.
 */
export const startLoad = (url: string, prefix: string, clients = 12): Load => {
  const state = { stopped: false, uploads: 0, writes: 0, erasures: 0 }
  const erase = async (body: object): Promise<void> => {
    const { status } = await send(url, 'POST', '/api/log/erasures', body)
    if (status === 200) state.erasures++
  }
  const step = async (client: number, n: number): Promise<boolean> => {
    const name = `${prefix}_c${client}_${n}`
    const path = '/api/projects/mindsdb'
    if (client % 4 === 0) {
      const answer = await send(url, 'PUT', `/api/files/${name}`, file(client, n))
      if (answer.status < 300) state.uploads++
      if (client === 0 && n % 3 === 2) await erase({ file: { name } })
    } else if (client % 4 === 1) {
      await send(url, 'POST', `${path}/models/rent/predict`, [row], { 'X-Request-Id': name })
      if (client === 1 && n % 20 === 19) await erase({ request: name })
    } else if (n % 5 === 4) await send(url, 'DELETE', `${path}/skills/${prefix}_c${client}_${n - 2}`)
    else await send(url, 'POST', `${path}/skills`, { skill: { name, type: 'sql', params: { api_key: `sk-${name}`, n } } })
    state.writes++
    return true
  }
  const client = async (number: number): Promise<void> => {
    for (let n = 0; !state.stopped; n++) {
      // The load continues if the service closed a connection meanwhile.
      for (let tries = 0; tries < 4 && !(await step(number, n).catch(() => false)); tries++) await sleep(50)
      await sleep(10)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    stop: async () => {
      state.stopped = true
      await running
    },
    uploads: () => state.uploads,
    writes: () => state.writes,
    erasures: () => state.erasures,
  }
}
