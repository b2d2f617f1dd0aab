import { describe, test } from '@jest/globals'
import { dialectService, expectAnswer, type Case } from '../../../support/dialect.js'

const at = dialectService(async (url) => {
  await expectAnswer(url, ['CREATE PROJECT shop', 'ok'])
  await expectAnswer(url, [`CREATE DATABASE slack WITH ENGINE = 'slack', PARAMETERS = {"token": "hidden"}`, 'ok'])
})

const skill = 'NAME, PROJECT, TYPE, PARAMS'
const agent = 'NAME, PROJECT, MODEL_NAME, SKILLS, PARAMS'
const chatbot = 'NAME, PROJECT, DATABASE, MODEL_NAME, PARAMS, IS_RUNNING, LAST_ERROR, WEBHOOK_TOKEN'

const skills: Case[] = [
  ["CREATE SKILL shop.Sales USING TYPE = 'text2sql', `Database` = 'd', tables = ['a', 'b'], x.y = 1, `x`.`Z` = true", 'ok'],
  ["CREATE SKILL shop.SALES USING type = 'sql'", /Skill with name SALES already exists/],
  ["CREATE SKILL IF NOT EXISTS shop.sales USING type = 'sql'", 'ok'],
  ["CREATE SKILL shop.s USING database = 'd'", /Missing "type" field for skill/],
  ["CREATE SKILL nope.s USING type = 'sql'", /Project with name nope does not exist/],
  ['DESCRIBE SKILL shop.sales', skill, [['Sales', 'shop', 'text2sql', '{"database":"d","tables":["a","b"],"x":{"y":1,"z":true}}']]],
  ["UPDATE SKILL shop.`SALES` SET type = 'sql', database = 'e', tables = null, x = null", 'ok'],
  ["ALTER SKILL shop.sales USING description = 'it''s', note = 'it\\'s'", 'ok'],
  ['SHOW SKILLS FROM shop', skill, [['Sales', 'shop', 'sql', `{"database":"e","description":"it's","note":"it's"}`]]],
  ['SHOW SKILLS', skill, []],
  ["SHOW SKILLS WHERE project = 'shop'", skill, []],
  [
    "SHOW SKILLS IN SHOP LIKE 's%' WHERE type = 'sql' AND name = 'SALES'",
    skill,
    [['Sales', 'shop', 'sql', `{"database":"e","description":"it's","note":"it's"}`]],
  ],
  ['SHOW SKILLS FROM nope', /Database nope does not exists/],
  ['SELECT name, type FROM shop.skills', 'NAME, TYPE', [['Sales', 'sql']]],
  ['UPDATE SKILL shop.nope SET a = 1', /Skill with name nope does not exist/],
  ['DROP SKILL shop.sALES', 'ok'],
  ['DROP SKILL shop.sales', /Skill with name sales does not exist/],
  ['DROP SKILL IF EXISTS shop.sales', 'ok'],
  ['DROP SKILL IF EXISTS nope.sales', 'ok'],
  ['DESCRIBE SKILL shop.sales', skill, []],
]
describe('skills', () => test.each(skills)('%s', (...one) => expectAnswer(at.url, one)))

const agents: Case[] = [
  ["CREATE SKILL shop.s1 USING type = 'sql'", 'ok'],
  ["CREATE SKILL shop.s2 USING type = 'sql'", 'ok'],
  ["CREATE AGENT shop.Helper USING model = 'gpt-4o', provider = 'openai', openai_api_key = 'sk-hidden', skills = ['S1'], k = 1", 'ok'],
  ["CREATE AGENT shop.helper USING model = 'gpt-4o'", /Agent with name helper already exists/],
  ["CREATE AGENT IF NOT EXISTS shop.helper USING model = 'gpt-4o'", 'ok'],
  ["CREATE AGENT shop.other USING model = 'gpt-4o', skills = ['none']", /none/],
  ['DESCRIBE AGENT shop.helper', agent, [['Helper', 'shop', 'gpt-4o', ['s1'], '{"openai_api_key":"******","k":1}']]],
  ["UPDATE AGENT shop.helper SET prompt_template = 'y', skills_to_add = ['s2'], skills_to_remove = ['s1'], k = null", 'ok'],
  ["ALTER AGENT shop.helper USING model = 'gpt-4o-mini'", 'ok'],
  ['SHOW AGENTS FROM shop', agent, [['Helper', 'shop', 'gpt-4o-mini', ['s2'], '{"openai_api_key":"******","prompt_template":"y"}']]],
  [
    "SHOW AGENTS FROM shop WHERE name = 'HELPER'",
    agent,
    [['Helper', 'shop', 'gpt-4o-mini', ['s2'], '{"openai_api_key":"******","prompt_template":"y"}']],
  ],
  ["SHOW AGENTS FROM shop LIKE 'x%'", agent, []],
  ['SHOW AGENTS', agent, []],
  [
    'CREATE AGENT shop.inline USING model = {"provider": "openai", "model_name": "gpt-4o", "api_key": "hidden"}, data = {"tables": ["files.t"]}',
    'ok',
  ],
  ["SELECT name, skills FROM shop.agents WHERE name IN ('INLINE')", 'NAME, SKILLS', [['inline', []]]],
  ['SELECT answer FROM shop.helper', /Nothing in the query gives a question to the agent shop\.Helper/],
  ["UPDATE AGENT shop.inline SET model = 'gpt-5', prompt_template = 'p'", 'ok'],
  [
    "SELECT params->>'model' AS m, params->>'prompt_template' AS p FROM shop.agents WHERE name = 'inline'",
    'm, p',
    [['{"provider":"openai","model_name":"gpt-5","api_key":"******"}', 'p']],
  ],
  ['UPDATE AGENT shop.inline SET model = null, data = null, prompt_template = null', 'ok'],
  ["SELECT model_name, params FROM shop.agents WHERE name = 'inline'", 'MODEL_NAME, PARAMS', [[null, '{}']]],
  ['UPDATE AGENT shop.nope SET k = 1', /nope/],
  ['DROP AGENT shop.inline', 'ok'],
  ['DROP AGENT shop.inline', /Agent with name inline does not exist/],
  ['DROP AGENT IF EXISTS shop.inline', 'ok'],
]
describe('agents', () => test.each(agents)('%s', (...one) => expectAnswer(at.url, one)))

const chatbots: Case[] = [
  ["CREATE CHATBOT shop.Desk USING database = 'slack', agent = 'helper', is_running = false, a = 1", 'ok'],
  ["CREATE CHATBOT shop.desk USING database = 'slack', agent = 'helper'", /Chatbot with name desk already exists/],
  ["CREATE CHATBOT IF NOT EXISTS shop.desk USING database = 'slack', agent = 'helper'", 'ok'],
  ["CREATE CHATBOT shop.d2 USING database = 'nope', agent = 'helper'", /Database with name nope does not exist/],
  ["CREATE CHATBOT shop.d2 USING database = 'slack', agent = 'nope'", /Agent with name nope does not exist/],
  ["CREATE CHATBOT shop.d2 USING database = 'slack'", /Missing/],
  ['DESCRIBE CHATBOT shop.desk', chatbot, [['Desk', 'shop', 'slack', 'gpt-4o-mini', '{"a":1}', false, null, null]]],
  ["UPDATE CHATBOT shop.desk SET is_running = true, name = 'front', b = 2", 'ok'],
  ["ALTER CHATBOT shop.front USING model = 'm'", /Model with name m does not exist/],
  ['SHOW CHATBOTS FROM shop', chatbot, [['front', 'shop', 'slack', 'gpt-4o-mini', '{"a":1,"b":2}', true, null, null]]],
  ['SHOW CHATBOTS', chatbot, []],
  ['SELECT name, is_running FROM shop.chatbots', 'NAME, IS_RUNNING', [['front', true]]],
  ["CREATE CHATBOT shop.second USING database = 'slack', agent = 'helper'", 'ok'],
  ["SELECT is_running FROM shop.chatbots WHERE name = 'second'", 'IS_RUNNING', [[true]]],
  ['UPDATE CHATBOT shop.second SET agent = null', /agent is null, which would remove it/],
  ['UPDATE AGENT shop.helper SET skills = null', /skills is null, which would remove it.*SET skills = \[\]/s],
  ['UPDATE AGENT shop.helper SET name = null', /name is null/],
  ['DROP AGENT IF EXISTS shop.helper', /Agent 'Helper' can not be deleted, because it answers for: chatbot front, chatbot second/],
  ['DROP CHATBOT shop.front', 'ok'],
  ['DROP CHATBOT shop.front', /Chatbot with name front does not exist/],
  ['DROP CHATBOT IF EXISTS shop.front', 'ok'],
]
describe('chatbots', () => test.each(chatbots)('%s', (...one) => expectAnswer(at.url, one)))

const knowledgeBases: Case[] = [
  [
    "CREATE KNOWLEDGE_BASE shop.kb USING reranking_model = {'provider': 'openai', 'model_name': 'gpt-4o'}, id_column = 'k', storage = 'v.docs'",
    'ok',
  ],
  ['ALTER KNOWLEDGE_BASE shop.kb USING reranking_model = null, id_column = null, storage = null', 'ok'],
  [
    "SELECT reranking_model, id_column, storage FROM shop.knowledge_bases WHERE name = 'kb'",
    'RERANKING_MODEL, ID_COLUMN, STORAGE',
    [[null, null, null]],
  ],
  [
    'ALTER KNOWLEDGE_BASE shop.kb USING content_columns = null',
    /content_columns is null.*null removes reranking_model, storage, id_column/s,
  ],
]
describe('knowledge bases', () => test.each(knowledgeBases)('%s', (...one) => expectAnswer(at.url, one)))
