import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { packagePath } from '../../../src/store/open.js'
import { buildRandomChain } from '../../../tools/fuzz-chain/buildChain.js'
import { type ChainFacts, readFacts } from '../../../tools/fuzz-chain/facts.js'
import { requestsAbout } from '../../../tools/fuzz-chain/requests/all.js'
import type { Request } from '../../../tools/fuzz-chain/requests/random.js'
import { type CairnServer, runCairnOk, startCairn } from '../cairn.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { ask, resultOf } from '../rpcClient.js'
import { temporaryDirectory } from '../temporary.js'
import { THOROUGH } from '../thorough.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A random chain, served by a Cairn that executed it from the genesis. */
export interface ServedChain {
  readonly complete: CairnServer
  readonly genesis: string
  readonly facts: ChainFacts
  readonly head: number
  /** The first block of Cancun. */
  readonly first: number
}

/** Of the requests each how many-th is sent where the comparison is not what is tested. */
export const SOME = THOROUGH ? 1 : 24

/** Limits of both servers, so that they refuse the same calls. */
export const SPARSE_LIMITS = [
  ...['--compat', 'geth', '--max-call-gas', '10', '--simulation-gas', '10', '--call-timeout', '60000'],
]

/** Random chains that a run has executed, by seed. A build that changes anything begins without them. */
const EXECUTED = packagePath('build/fixtureDatabases')
const [GENESIS, CHAIN, FACTS] = ['genesis.json', 'chain.rlp', 'facts']

/** Serves the random chain of a seed until the test ends. The first test of a build makes the chain and its database,
 *  which are then copied. */
export async function serveRandomChain(t: After, seed: number): Promise<ServedChain> {
  const executed = join(EXECUTED, `random-${seed}`)
  if (!existsSync(executed)) await executeRandomChain(t, executed, seed)
  const folder = temporaryDirectory(t)
  cpSync(executed, folder, { recursive: true })
  const complete = await startCairn(t, ['--datadir', folder, '--open', ...SPARSE_LIMITS])
  const facts = deserialize(readFileSync(join(folder, FACTS))) as ChainFacts
  const genesis = join(folder, GENESIS)
  const cancun = (JSON.parse(readFileSync(genesis, 'utf8')) as { config: { cancunTime: number } }).config.cancunTime
  return { complete, genesis, facts, head: facts.head, first: facts.timestamps.findIndex((time) => time >= cancun) }
}

/** Makes the folder: the chain's files, its database, and its facts. */
async function executeRandomChain(t: After, executed: string, seed: number): Promise<void> {
  mkdirSync(EXECUTED, { recursive: true })
  const folder = mkdtempSync(join(EXECUTED, 'execute-'))
  const chain = await buildRandomChain(seed)
  writeFileSync(join(folder, GENESIS), chain.genesis)
  writeFileSync(join(folder, CHAIN), chain.chainRlp)
  await runCairnOk(['import', '--datadir', folder, folder])
  const server = await startCairn(t, ['--datadir', folder, '--open', ...SPARSE_LIMITS])
  const facts = await readFacts((method, params) => resultOf(server.url, method, params), chain)
  await server.stop()
  writeFileSync(join(folder, FACTS), serialize(facts))
  try {
    renameSync(folder, executed)
  } catch {
    rmSync(folder, { recursive: true }) // another process was faster
  }
}

/** What a comparison found. */
export interface Comparison {
  readonly compared: number
  /** About blocks before the first one, or with answers that a database without them cannot give. */
  readonly skipped: number
  /** Errors that the state is not known, where that is expected. */
  readonly unknown: number
  /** Requests whose answers differ, with both from where they begin to differ. */
  readonly differences: string[]
}

/** Which requests are sent, and how answers are compared. */
interface ComparisonOptions {
  readonly random: SeededRandom
  readonly count: number
  /** Of the requests each how many-th is sent. */
  readonly step?: number
  /** Parts of answers that are not compared. */
  readonly ignored?: RegExp
  /** Messages of errors that may come in place of an answer: the state is not known. */
  readonly unknown?: RegExp
}

/** Asks a server with sparse state and the complete one `count` random requests, and those about all blocks; of all
 *  these each `step`th only.
 *  @param ignored what is removed from both answers */
export async function compareWithComplete(
  { url }: { url: string },
  { complete, facts, first }: ServedChain,
  { random, count, step = 1, ignored, unknown: isUnknown }: ComparisonOptions,
): Promise<Comparison> {
  const earlier = [
    ...facts.blockHashes.slice(0, first),
    ...facts.transactions.filter(({ blockNumber }) => blockNumber < first).map(({ hash }) => hash),
  ]
  const namesEarlier = ({ params }: Request) => earlier.some((hash) => JSON.stringify(params).includes(hash))
  const differences: string[] = []
  let compared = 0
  let skipped = 0
  let unknown = 0
  const textOf = (answer: object) => JSON.stringify(answer).replaceAll(ignored ?? /$^/g, '')
  for (const [i, request] of [...requestsAbout(facts, random, count)].entries()) {
    if (i % step > 0) continue
    const [own, wanted] = await Promise.all([
      askInTime(url, request),
      ask(complete.url, request.method, request.params),
    ])
    if (isOfEarlierBlock(own, first) || namesEarlier(request) || isSuggested(request, own) || isList(request, own)) {
      skipped++
      continue
    }
    const [ownText, wantedText] = [own, wanted].map(textOf)
    if (ownText !== wantedText && isUnknown?.test(own.error?.message ?? '')) {
      unknown++
      continue
    }
    compared++
    if (ownText !== wantedText) differences.push(describeDifference(request, ownText, wantedText))
  }
  return { compared, skipped, unknown, differences }
}

/** Asks, and again where fetching took longer than a call may wait: what was fetched is known then. A busy machine
 *  needs that. */
async function askInTime(url: string, { method, params }: Request): ReturnType<typeof ask> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(url, method, params)
    const isLate = /took longer than 10 s|did not send it within/.test(String(answer.error?.message))
    if (!isLate || attempt === 3) return answer
  }
}

/** As `compareWithComplete`, with the requests of a seed. */
export function compareSeed(server: { url: string }, chain: ServedChain, seed: number, count: number, step = 1) {
  return compareWithComplete(server, chain, { random: seededRandom(seed), count, step })
}

/** True for an answer that a database which begins at `first` cannot give. */
function isOfEarlierBlock({ error }: { error?: unknown }, first: number): boolean {
  const message = (error as { message?: string } | undefined)?.message ?? ''
  const [, number] =
    /^(?:block|historical state) (\d+) is not available/.exec(message) ??
    /before block (\d+) are not available/.exec(message) ??
    []
  return number !== undefined && Number(number) <= first
}

/** True for what is computed from the fees of the 20 newest blocks, some of them earlier ones, and for preimages: those
 *  of what was asked for are known. */
function isSuggested({ method }: Request, own: object): boolean {
  return (
    /eth_(feeHistory|gasPrice|maxPriorityFeePerGas)|debug_preimage/.test(method) ||
    /maxPriorityFeePerGas \(0x|have \d+ want \d+ \(supplied gas/.test(JSON.stringify(own))
  )
}

/** True for an answer that lists a state that is known in part. */
function isList({ method }: Request, { error }: { error?: unknown }): boolean {
  const isRefused = /^the state cannot be listed/.test((error as { message?: string } | undefined)?.message ?? '')
  return isRefused && /^debug_(dumpBlock|accountRange|storageRangeAt)$/.test(method)
}

/** The request, and both answers from where they begin to differ. */
function describeDifference({ method, params }: Request, own: string, wanted: string): string {
  let same = 0
  while (same < own.length && own[same] === wanted[same]) same++
  const from = Math.max(0, same - 40)
  const shown = [JSON.stringify(params), own.slice(from), wanted.slice(from)].map((text) => text.slice(0, 300))
  return `${method} ${shown.join('\n  ')}`
}
