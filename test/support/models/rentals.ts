import { setTimeout as sleep } from 'node:timers/promises'
import { send, sql } from '../service.js'

const locations = ['good', 'great', 'poor'] as const

const rentalsOf = (rows: number): string =>
  [
    'sqft,location,rooms,rental_price',
    ...Array.from(
      { length: rows },
      (_, i) => `${300 + i * 7},${locations[i % 3]},${i % 4},${(300 + i * 7) * 4 + (i % 3) * 100 + (i % 4) * 50}`,
    ),
  ].join('\n')

/** A table whose price follows from its other columns, as CSV. */
export const rentalsCsv = rentalsOf(240)

/** A form with one file, as the Python client sends it. */
export const formOf = (text: string, filename: string, fields: Record<string, string> = {}): FormData => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([text]), filename)
  return form
}

/** Uploads the first rows of the table: fewer rows make trainings shorter in tests that do not depend on the result. */
export const uploadRentals = async (url: string, name = 'rentals', rows = 240): Promise<void> => {
  const { status, body } = await send(url, 'PUT', `/api/files/${name}`, formOf(rentalsOf(rows), 'rentals.csv'))
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** Waits until a model is no longer being trained, and returns its status. It polls less often over time. */
export const settled = async (url: string, model: string, project = 'mindsdb'): Promise<string> => {
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.3, 500)) {
    const { status } = (await send(url, 'GET', `/api/projects/${project}/models/${model}`)).body as { status: string }
    if (status !== 'generating' && status !== 'training') return status
    await sleep(waitMs)
  }
}

/** Uploads the rentals and trains `rent` on them. */
export const trainRent = async (url: string, project = 'mindsdb'): Promise<void> => {
  await uploadRentals(url)
  const answer = await sql(
    url,
    `CREATE MODEL ${project}.rent FROM files (SELECT * FROM rentals) PREDICT rental_price USING preset = 'fast'`,
  )
  if (answer.type === 'error') throw new Error(answer.error_message)
  const status = await settled(url, 'rent', project)
  if (status !== 'complete') throw new Error(`rent has status ${status}`)
}
