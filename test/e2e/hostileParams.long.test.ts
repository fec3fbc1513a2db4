import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveFixture } from '../support/cairn.js'
import { HostileParams } from '../support/hostileParams.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { THOROUGH } from '../support/thorough.js'

/* Every method with random and hostile parameters: each answer is JSON by RFC 8259, and none is an internal error. */

const SEED = Number(process.env.SEED ?? 1)
/** Rounds over all methods, and how long they may take: a slow machine runs fewer. */
const ROUNDS = THOROUGH ? 2_000 : 25
const LIMIT_MS = THOROUGH ? 600_000 : 25_000
const MAX_PROBLEMS = 10

// The one -32603 that the API specification records: a simulated nonce of 2^64-1.
const RECORDED = /nonce has max value/

interface Discovered {
  name: string
  params: { name: string; required: boolean; schema: { [key: string]: unknown } }[]
  examples?: { params: { value: unknown }[] }[]
}

/** Quantities, hashes, addresses and objects of the examples: what the chain has. */
function knownValues(methods: readonly Discovered[]): unknown[] {
  const values = methods.flatMap(({ examples = [] }) =>
    examples.flatMap(({ params }) => params.map(({ value }) => value)),
  )
  const blocks = [0, 1, 16, 31, 40, 54, 57].map((number) => `0x${number.toString(16)}`)
  return [...values, ...blocks, 'latest']
}

test('every answer to random and hostile parameters is JSON, and none an internal error', async (t) => {
  const { url } = await serveFixture(t, ['--call-timeout', '300', '--trace-timeout', '500', '--max-call-gas', '5'])
  const { methods } = await resultOf<{ methods: Discovered[] }>(url, 'rpc_discover')
  const hostile = new HostileParams(seededRandom(SEED), knownValues(methods))
  const endMs = performance.now() + LIMIT_MS
  const problems: string[] = []
  const answered = new Set<string>()
  const askOne = async (method: string, params: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const text = await response.text()
    const problem = problemOf(text)
    if (problem !== undefined) problems.push(`${body.slice(0, 1_000)}\n  ${problem}`)
    if (text.includes('"result"')) answered.add(method)
  }
  for (let round = 0; round < ROUNDS && performance.now() < endMs && problems.length < MAX_PROBLEMS; round++) {
    for (const { name, params } of methods) await askOne(name, hostile.of(params))
  }
  assert.deepEqual(problems, [])
  t.diagnostic(`${answered.size} of ${methods.length} methods returned results`)
  assert.ok(answered.size > methods.length / 2, 'the parameters reach the handlers')
})

/** What is wrong with an answer. */
function problemOf(text: string): string | undefined {
  try {
    const { id, result, error } = JSON.parse(text) as {
      id: unknown
      result?: unknown
      error?: { code: number; message: string }
    }
    if ((result === undefined) === (error === undefined)) return `neither result nor error: ${text.slice(0, 200)}`
    if (id !== 7) return `id ${JSON.stringify(id)}`
    return error?.code === -32603 && !RECORDED.test(error.message) ? error.message : undefined
  } catch (error) {
    return `${error}: ${text.slice(0, 200)}`
  }
}
