import { Agent } from 'node:http'
import { createLogChain, createRandom } from '../../../test/support/chains/logChain.js'
import { countResults, post, quantile, TOO_MANY, toFilter } from '../../lib/client.js'
import { type ClientsPlan, type ClientsResult, variantsOf } from '../plans.js'
import { makeShapes, type Shape, type ShapeKind } from '../shapes.js'

// What users ask for, roughly: mostly little; the heavy ones are there too.
const WEIGHTS: { readonly [kind in ShapeKind]: number } = { selective: 55, other: 15, large: 12, refused: 8, list: 10 }
const SAMPLES_PER_SHAPE = 2
const ANSWER_TIMEOUT_MS = 30_000
// Above it an answer is looked at from both ends instead of being parsed: these clients share the machine's cores.
const PARSED_BYTES = 16_384

// A server that has just started reads its files and compiles its code in the first requests, so they are reported
// separately. A tenth of the time, at most two seconds.
const BEGIN_MS = 2_000
const BEGIN_SHARE = 0.1

interface Kept {
  shape: string
  n: number
  body: Buffer
}

/* Clients that ask all the time, each on a connection of its own, for questions drawn at random but the same for the
 * same seed. Gets the plan, says 'begin' once it has made the shapes, and in the end what came of it. */

process.once('message', async (plan: ClientsPlan) => {
  const shapes = makeShapes({ chain: createLogChain(plan.seed), seed: plan.seed, ...plan.parameters })
  const variants = variantsOf(plan.parameters)
  process.send!('begin')
  const agent = new Agent({ keepAlive: true, maxSockets: plan.clients, timeout: ANSWER_TIMEOUT_MS })
  const started = performance.now()
  const beginMs = Math.min(BEGIN_MS, plan.seconds * 1_000 * BEGIN_SHARE)
  const record = createRecord()
  const runClient = async (client: number) => {
    const random = createRandom(plan.seed * 101 + client)
    for (let id = 1; performance.now() - started < plan.seconds * 1_000; id++) {
      const shape = pickShape(shapes, random)
      const n = variants.first + Math.floor(random() * variants.count)
      const question = shape.question(n)
      const middle = Math.floor(plan.parameters.head / 2)
      const filter = toFilter(question, shape.byHash && plan.middleHashes[question.fromBlock - middle])
      const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_getLogs', params: [filter] })
      const isEarly = performance.now() - started < beginMs
      try {
        const { ms, body } = await post(plan.url, agent, text)
        record.answer({ shape, n, id, ms, body, random, isEarly })
      } catch (error) {
        record.lose(error as Error)
      }
    }
  }
  await Promise.all(Array.from({ length: plan.clients }, (_, client) => runClient(client)))
  process.send!(record.result((performance.now() - started - beginMs) / 1_000))
  agent.destroy()
  process.disconnect()
})

function pickShape(shapes: readonly Shape[], random: () => number): Shape {
  let left = random() * Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)
  const kinds = Object.entries(WEIGHTS) as [ShapeKind, number][]
  const [kind] = kinds.find(([, weight]) => {
    left -= weight
    return left < 0
  })!
  const ofKind = shapes.filter((shape) => shape.kind === kind)
  return ofKind[Math.floor(random() * ofKind.length)]
}

function createRecord() {
  const times: Times = {}
  const early: Times = {}
  const errors: { [message: string]: number } = {}
  const kept = new Map<string, { seen: number; answers: Kept[] }>()
  let [requests, lost, bytes] = [0, 0, 0]
  const addError = (message: string) => {
    errors[message] = (errors[message] ?? 0) + 1
  }
  /** Keeps some answers of each shape, each as likely as the others. */
  const keep = (answer: Kept, random: () => number) => {
    const held = kept.get(answer.shape) ?? { seen: 0, answers: [] }
    kept.set(answer.shape, held)
    const place = held.seen < SAMPLES_PER_SHAPE ? held.seen : Math.floor(random() * (held.seen + 1))
    held.seen++
    if (place < SAMPLES_PER_SHAPE) held.answers[place] = answer
  }
  return {
    answer({ shape, n, id, ms, body, random, isEarly }: Answer): void {
      const into = isEarly ? early : times
      into[shape.kind] ??= []
      into[shape.kind].push(ms)
      if (!isEarly) {
        requests++
        bytes += body.length
      }
      const fault = findFault(body, id)
      if (fault === undefined) keep({ shape: shape.name, n, body }, random)
      else if (fault === 'not whole') lost++
      else addError(fault)
    },
    lose(error: Error): void {
      requests++
      lost++
      addError(error.message)
    },
    result(seconds: number): ClientsResult {
      const samples = [...kept.values()].flatMap(({ answers }) =>
        answers.map(({ shape, n, body }) => ({ shape, n, results: countResults(body) })),
      )
      const rates = { requestsPerSecond: requests / seconds, megabytesPerSecond: bytes / 1e6 / seconds }
      const kinds = describeTimes(times)
      return { requests, seconds, ...rates, kinds, atBegin: describeTimes(early), errors, lost, samples }
    },
  }
}

type Times = { [kind: string]: number[] }

function describeTimes(times: Times): ClientsResult['kinds'] {
  const kinds = Object.entries(times).map(([kind, values]) => {
    const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((share) => quantile(values, share))
    return [kind, { requests: values.length, p50Ms, p99Ms, maxMs }] as const
  })
  return Object.fromEntries(kinds)
}

interface Answer {
  shape: Shape
  n: number
  id: number
  ms: number
  body: Buffer
  random: () => number
  isEarly: boolean
}

/** What is wrong with an answer: `not whole` when it is none to this request, else the message of its error. */
function findFault(body: Buffer, id: number): string | undefined {
  const start = `{"jsonrpc":"2.0","id":${id},"result":[`
  if (body.length > PARSED_BYTES) {
    const whole =
      body.toString('latin1', 0, start.length) === start && body.toString('latin1', body.length - 2) === ']}'
    return whole ? undefined : 'not whole'
  }
  try {
    const { id: answered, result, error } = JSON.parse(body.toString())
    if (answered !== id) return 'not whole'
    if (result !== undefined || countResults(body) === TOO_MANY) return undefined
    return error?.message
  } catch (error) {
    return error instanceof SyntaxError ? 'not whole' : (error as Error).message
  }
}
