import { send } from '../service.js'
import { until } from '../until.js'

/**
 * Waits until all tables of an agent are described with their rows. On a busy machine rows may come too late, and their table is then
 * described without them for a while. `completions` is the path of the agent's answers.
 */
export const described = (url: string, completions: string): Promise<void> =>
  until(async () => {
    const { body } = await send(url, 'POST', `${completions}?dry_run=true`, { messages: [{ role: 'user', content: 'Hi' }] })
    return !JSON.stringify(body).includes('could not be read')
  })
