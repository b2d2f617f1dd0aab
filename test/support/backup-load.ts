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

/** Commands with secrets and uploads of many clients at a time, until it is stopped; a service that ends ends it, too. */
export const startLoad = (url: string, prefix: string, clients = 12): Load => {
  let stopped = false
  let uploads = 0
  let writes = 0
  const client = async (number: number): Promise<void> => {
    for (let n = 0; !stopped; n++) {
      const name = `${prefix}_c${number}_${n}`
      const skill = { name, type: 'sql', params: { api_key: `sk-${name}`, n } }
      const answer =
        n % 8 === 3
          ? await send(url, 'PUT', `/api/files/${name}`, file(number, n)).catch(() => undefined)
          : await send(url, 'POST', '/api/projects/mindsdb/skills', { skill }).catch(() => undefined)
      if (!answer) return
      if (n % 8 === 3 && answer.status < 300) uploads++
      writes++
      if (n % 5 === 4) await send(url, 'DELETE', `/api/projects/mindsdb/skills/${prefix}_c${number}_${n - 2}`).catch(() => undefined)
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
