import { expect, test } from '@jest/globals'
import type { AnswerFrame } from '../../../src/agents/contract/answering.js'
import { Fence } from '../../../src/agents/prompt/fence.js'
import { settingsOf } from '../../../src/agents/prompt/settings.js'
import { AnswerRun } from '../../../src/agents/run/answer-run.js'
import { ToolExecutor } from '../../../src/agents/run/tool-executor.js'
import { AnswerEvents } from '../../../src/http/reads/answer-frames.js'
import type { LanguageModel } from '../../../src/llm/contract/language-model.js'
import { reserveAll } from '../../../src/llm/tokens/daily-token-quotas.js'

test('a text that turns out to be a remark is no part of the answer, and a stream says so; the record has it', async () => {
  const model: LanguageModel = {
    ...{ provider: 'scripted', model: 'm', host: 'localhost:1' },
    chat: async function* () {
      yield { text: 'I wonder.' }
      yield { remark: true }
      yield { text: 'Three.' }
      return { finish: 'stop', usage: { input: 1, output: 1 }, model: 'm' }
    },
  }
  const frames: AnswerFrame[] = []
  const finished = await new AnswerRun({
    ...{ model, messages: [{ role: 'user', content: 'How many?' }], request: {}, bounds: settingsOf({ params: {} }).bounds },
    ...{ executor: new ToolExecutor([], new Fence()), reserve: reserveAll, signal: new AbortController().signal },
    emit: (frame) => frames.push(frame),
  }).finish()
  expect(finished).toMatchObject({ outcome: 'answered', content: 'Three.', exchanges: [{ response: { text: 'Three.' } }] })
  expect(finished.exchanges).toMatchObject([{ response: { remarks: 'I wonder.' } }])
  expect(frames).toEqual([{ type: 'text', text: 'I wonder.' }, { type: 'remark' }, { type: 'text', text: 'Three.' }])
  expect(new AnswerEvents('How many?').of({ type: 'remark' })).toContain('"type":"remark"')
})
