import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { plantLogs } from '../../tools/fixture/plantLogs.js'
import { startAllThreads } from '../support/allThreads.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { EMITTER, HEAD, NUMBERED_TOPIC, REVERTER, TOKEN } from '../support/chains/fixtureChain.js'
import { type Answer, ask } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The limits of the contract, against the program. The times are given by options, so that a test need not wait for 10
 * s and 5 s; `npm run show:limits` does. */

const LOGS_TIMEOUT_MS = 200
const CALL_TIMEOUT_MS = 1500
/** A thread reads them into memory first, which takes most of a second. */
const PLANTED_LOGS = 800_000
const THREADS = 2

// At the cap of ten blocks' gas a loop is over before its time.
const SPIN = [{ to: REVERTER, data: '0xf0acd7d5', gas: '0x2540be400' }, 'latest']
const TOTAL_SUPPLY = [{ to: TOKEN, data: '0x18160ddd' }, 'latest']
const NAME = [{ to: TOKEN, data: '0x06fdde03' }, 'latest']

async function importFixture(): Promise<string> {
  const datadir = temporaryDirectory({ after })
  const folder = packagePath('fixtures/chain')
  await runCairnOk(['import', '--datadir', datadir, '--genesis', `${folder}/genesis.json`, `${folder}/chain.rlp`])
  return datadir
}

const plain = await startCairn({ after }, ['--open', '--datadir', await importFixture()])
const getLogs = (filter: object) => ask(plain.url, 'eth_getLogs', [filter])

/** The second topics that the emitter gave its logs. */
const numbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `0x${(from + i).toString(16).padStart(64, '0')}`)
const countOf = ({ result }: Answer) => (result as unknown[]).length

// Each of blocks 54 to 58 has 2,100 logs, one for each number from 0 to 2,099; block 28 has one each for 0, 1 and 2.
test('10,000 logs are served and 10,001 are refused', async () => {
  const topics = [NUMBERED_TOPIC, numbers(2000, 2)]
  const served = await getLogs({ address: EMITTER, topics, fromBlock: '0x1d', toBlock: '0x3c' })
  assert.equal(countOf(served), 10_000)
  const refused = await getLogs({ address: EMITTER, topics, fromBlock: '0x1c', toBlock: '0x3c' })
  const data = { from: '0x1c', to: '0x39' }
  assert.deepEqual(refused.error, { code: -32005, message: 'query returned more than 10000 results', data })
  assert.equal(countOf(await getLogs({ topics, fromBlock: data.from, toBlock: data.to })), 8_001)
  assert.equal(countOf(await getLogs({ topics, fromBlock: '0x1c', toBlock: '0x1c' })), 1)
})

test('more than 10,000 logs are refused whatever finds them', async () => {
  const data = { from: '0x0', to: '0x39' }
  const tooMany = { code: -32005, message: 'query returned more than 10000 results', data }
  const ranges = { fromBlock: '0x0', toBlock: 'latest' }
  const filters = [{}, { address: EMITTER }, { topics: [NUMBERED_TOPIC] }, { topics: [null, null, null, null] }]
  for (const filter of filters) assert.deepEqual((await getLogs({ ...filter, ...ranges })).error, tooMany)
  // Clients ask again, since the code says that they may.
  for (const filter of filters) assert.deepEqual((await getLogs({ ...filter, ...ranges })).error, tooMany)
  for (const filter of filters) {
    assert.ok(countOf(await getLogs({ ...filter, fromBlock: data.from, toBlock: data.to })) >= 8_400)
  }
})

test('5,000 parameters are taken and 5,001 are refused', async () => {
  const range = { fromBlock: '0x3a', toBlock: '0x3a' }
  const taken = await getLogs({ ...range, address: EMITTER, topics: [NUMBERED_TOPIC, numbers(4998)] })
  assert.equal(countOf(taken), 2100)
  const refused = await getLogs({ ...range, address: EMITTER, topics: [NUMBERED_TOPIC, numbers(4999)] })
  assert.deepEqual(refused.error, { code: -32602, message: 'query contains 5001 parameters, the limit is 5000' })
})

test('more than four topics are refused', async () => {
  const { error } = await getLogs({ topics: [null, null, null, null, null] })
  assert.deepEqual(error, { code: -32602, message: 'exceed max topics' })
})

test('a slow log query is refused at its time, and others are answered meanwhile', async (t) => {
  const datadir = await importFixture()
  const options = ['--logs-timeout', String(LOGS_TIMEOUT_MS), '--scan-threads', String(THREADS)]
  const { url } = await startCairn(t, ['--open', '--datadir', datadir, ...options])
  await startAllThreads(url, THREADS + 3)
  const db = openForWriting(datadir)
  const address = formatData(plantLogs(db, PLANTED_LOGS))
  db.close()
  // Each another one: equal ones would be one run.
  const slow = (n: number) => [{ address, fromBlock: `0x${n}`, topics: [null, null, null, null] }]
  const asked = Array.from({ length: 3 * THREADS }, (_, n) => ask(url, 'eth_getLogs', slow(n)))
  await answersWhile(url, Promise.all(asked))
  const refused = (await Promise.all(asked)).filter(({ error }) => error !== undefined)
  assert.ok(refused.length > 0) // the first of each thread, and those behind it until all is in memory
  for (const { error } of refused) assert.deepEqual(error, { code: -32005, message: 'query timeout exceeded' })
  const quick = await untilAnswered(() => ask(url, 'eth_getLogs', [{ fromBlock: '0x5', toBlock: '0x5' }]))
  assert.equal(countOf(quick), 3)
})

test('an endless call is ended at its time, again and again, and others are answered meanwhile', async (t) => {
  const options = [
    '--call-timeout',
    String(CALL_TIMEOUT_MS),
    '--gas-cap',
    '100000',
    '--max-call-gas',
    '100000',
    '--evm-threads',
    String(THREADS),
  ]
  const { url } = await startCairn(t, ['--fixture', packagePath('fixtures/chain'), ...options])
  await startAllThreads(url, THREADS + 3)
  const aborted = { code: -32000, message: 'execution aborted (timeout = 1.5s)' }
  const one = ask(url, 'eth_call', SPIN)
  await answersWhile(url, one)
  assert.deepEqual((await one).error, aborted)
  // More at once than there are threads: those that wait are ended at their time too.
  const several = await Promise.all(Array.from({ length: 2 * THREADS + 1 }, () => ask(url, 'eth_call', SPIN)))
  for (const { error } of several) assert.deepEqual(error, aborted)
  const { result } = await untilAnswered(() => ask(url, 'eth_call', TOTAL_SUPPLY))
  assert.equal(BigInt(result as string), 1000n * 10n ** 18n)
  assert.ok((await untilAnswered(() => ask(url, 'eth_call', NAME))).result)
})

/** Asks for the head and calls a contract until the work is done; at least once, and every time with success. */
async function answersWhile(url: string, work: Promise<unknown>): Promise<void> {
  let done = false
  const ended = work.finally(() => {
    done = true
  })
  let answers = 0
  while (!done) {
    const [head, call] = await Promise.all([ask(url, 'eth_blockNumber'), ask(url, 'eth_call', NAME)])
    assert.equal(head.result, `0x${HEAD.toString(16)}`)
    assert.ok(call.result, JSON.stringify(call))
    if (!done) answers++
  }
  await ended
  assert.ok(answers > 0, 'nothing was answered before the slow work ended')
}

/** Asks until there is a result: after a thread was ended, the next one may take longer to start than a request has. */
async function untilAnswered(request: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; attempt < 30; attempt++) {
    const answer = await request()
    if (answer.error === undefined) return answer
  }
  return assert.fail('no answer in 30 attempts')
}
