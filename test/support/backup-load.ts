import { setTimeout as sleep } from 'node:timers/promises'
import { send } from './service.js'

/** What a load was told. */
export type Load = { stop: () => Promise<void>; uploads: () => number; writes: () => number }

const file = (client: number, n: number): FormData => {
  const form = new FormData()
  const rows = Array.from({ length: 50 + (n % 7) }, (_, row) => `${client},${n},${row}`)
  form.append('file', new Blob([`client,n,row\n${rows.join('\n')}\n`]), 'rows.csv')
  return form
}

const row = { sqft: 800, location: 'good', rooms: 2 }

/**
 * Many clients at a time, until it is stopped: commands with secrets, one upload in a quarter of them, and predictions of
 * `rent` in another. A service that ends ends it, too.
 */
export const startLoad = (url: string, prefix: string, clients = 12): Load => {
  let stopped = false
  let uploads = 0
  let writes = 0
  const step = async (client: number, n: number): Promise<boolean> => {
    const name = `${prefix}_c${client}_${n}`
    const path = '/api/projects/mindsdb'
    if (client % 4 === 0) {
      const answer = await send(url, 'PUT', `/api/files/${name}`, file(client, n))
      if (answer.status < 300) uploads++
    } else if (client % 4 === 1) await send(url, 'POST', `${path}/models/rent/predict`, [row])
    else if (n % 5 === 4) await send(url, 'DELETE', `${path}/skills/${prefix}_c${client}_${n - 2}`)
    else await send(url, 'POST', `${path}/skills`, { skill: { name, type: 'sql', params: { api_key: `sk-${name}`, n } } })
    writes++
    return true
  }
  const client = async (number: number): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      // A connection that the service closed meanwhile is no reason to stop.
      for (let tries = 0; !(await step(number, n).catch(() => false)); tries++) {
        if (stopped || tries > 3) return
        await sleep(50)
      }
      await sleep(1)
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    stop: async () => {
      stopped = true
      await running
    },
    uploads: () => uploads,
    writes: () => writes,
  }
}
