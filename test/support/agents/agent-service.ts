import { streamId } from '../../../events/common.js'
import { checkDataDirectory } from '../../../src/setup/data-directory.js'
import { findMasterKeys } from '../../../src/vault/key-files.js'
import { AnswerMaker } from './answer-maker.js'
import { send, sql, startTestService } from '../service.js'

/** A service in this process with an agent and the recorder of its answers. `environment` must not set the master key. */
export const startWithAgent = async (environment: Record<string, string> = {}) => {
  const at = await startTestService(environment)
  const [key] = findMasterKeys(checkDataDirectory(at.directory))
  if (!key) throw new Error('the service has no master key')
  const maker = new AnswerMaker(at.service.log, key)
  const makeAgent = async (name: string, project = 'mindsdb') => {
    const { status } = await send(at.url, 'POST', `/api/projects/${project}/agents`, { agent: { name, model_name: 'gpt-4o' } })
    const [[agent] = []] = (
      await sql(at.url, `SELECT stream FROM log.resources WHERE kind = 'agent' AND project = '${project}' AND name = '${name}'`)
    ).data
    if (status !== 201) throw new Error(`the agent was not made: ${status}`)
    return streamId.parse(agent)
  }
  return { ...at, maker, makeAgent, agent: await makeAgent('helper') }
}
