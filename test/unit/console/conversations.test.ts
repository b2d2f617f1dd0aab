import { afterAll, expect, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'

type Conversation = { show(address: Record<string, string>, rounds: readonly object[]): void }
type Module = { conversationAt: (moment: string | undefined) => Conversation }

/** What a browser has, and Node has not. Other test files in this process must not find it. */
const document = { baseURI: 'http://localhost/', visibilityState: 'visible', addEventListener: () => undefined }
Object.assign(globalThis, { document })
const { conversationAt } = await loadModule<Module>('pages/playground/conversation.ts')
afterAll(() => {
  Reflect.deleteProperty(globalThis, 'document')
})

test('a window keeps the conversation of each moment with a question, and nothing of moments that it passed', () => {
  const asked = conversationAt('10')
  asked.show({ agent: 'a', beside: '', beside_at: '', answers: '' }, [{ question: 'How many?', askings: [] }])
  const passed = conversationAt('11')
  expect(conversationAt('11')).toBe(passed)
  conversationAt('12')
  expect(conversationAt('10')).toBe(asked)
  expect(conversationAt('11')).not.toBe(passed)
})
