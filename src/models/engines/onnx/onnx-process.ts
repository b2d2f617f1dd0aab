import { readFile } from 'node:fs/promises'
import { isProblem, errorText } from '../../../basics/errors.js'
import { ignoreUserSignals } from '../../../basics/user-signals.js'
import { endWithParent } from '../../../setup/end-with-parent.js'
import { runBatches } from './batches.js'
import type { FromProcess, ToProcess } from './messages.js'
import { loadRuntime, type Runtime, type RuntimeSession } from './runtime.js'
import { partsOf, readTokenizer, type Tokenizer } from './tokenizer.js'

/** The model runs on one thread, so that sums are added in a fixed order and it uses at most one core. */
const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', logSeverityLevel: 4 }

let model: { runtime: Runtime; session: RuntimeSession } | undefined
let tokenizer: Tokenizer | undefined

const answer = async (message: ToProcess): Promise<FromProcess> => {
  if ('load' in message) {
    const runtime = await loadRuntime()
    const { file, offset } = message.load
    const bytes = new Uint8Array(await readFile(file)).subarray(offset)
    const session = await runtime.InferenceSession.create(bytes, sessionOptions)
    model = { runtime, session }
    return {
      loaded: { inputs: [...session.inputMetadata], outputs: [...session.outputMetadata], runtime: runtime.env.versions.node ?? '' },
    }
  }
  if ('read' in message) {
    tokenizer = await readTokenizer(message.read.file, message.read.name)
    return { read: true }
  }
  if ('cut' in message) {
    if (!tokenizer) throw new Error('no tokenizer is loaded')
    return { parts: partsOf(tokenizer, message.cut.text, message.cut.maxTokens) }
  }
  if (!model) throw new Error('no model is loaded')
  return { ran: await runBatches(model.runtime, model.session, message.run) }
}

const failure = (error: unknown): FromProcess => {
  if (!isProblem(error)) return { failed: errorText(error) }
  const { code, title, detail, extras } = error
  return { problem: { code, title, detail, ...(extras.hint !== undefined && { hint: extras.hint }) } }
}

ignoreUserSignals()
// Without this, a running model would keep the process alive after its parent has disconnected.
process.on('disconnect', () => process.exit(0))
endWithParent()
process.on('message', (message: ToProcess) => {
  void answer(message)
    .catch(failure)
    .then((reply) => process.send?.(reply))
})
