import { isDeepStrictEqual } from 'node:util'
import { keccak256 } from '../../src/chain/crypto.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import type { Request } from './requests/random.js'

/** A parsed answer; `invalid` where the text is not JSON. */
export interface JsonAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  invalid?: string
}

/** A difference between Cairn and geth that is meant, or that is known and open. */
export interface IntendedDifference {
  name: string
  /** The answers without the difference; undefined where it does not apply. */
  apply(request: Request, own: JsonAnswer, theirs: JsonAnswer): [JsonAnswer, JsonAnswer] | undefined
}

const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
/** Answers without differences. */
export const SAME: [JsonAnswer, JsonAnswer] = [{}, {}]

type Members = { [name: string]: unknown }

/** All of them, in the order in which they are applied. */
export const INTENDED: readonly IntendedDifference[] = [
  {
    name: 'geth crashes: it refuses what Cairn answers, or answers with another error',
    apply: (_, own, theirs) =>
      theirs.error?.message === 'method handler crashed' && own.invalid === undefined ? SAME : undefined,
  },
  {
    name: 'words of parameter errors',
    apply: (_, own, theirs) =>
      own.error?.code === INVALID_PARAMS && theirs.error?.code === INVALID_PARAMS ? SAME : undefined,
  },
  {
    name: 'what geth puts around the words of a refused call',
    apply: (_, own, theirs) =>
      own.error && theirs.error ? [withError(own, plainWords), withError(theirs, plainWords)] : undefined,
  },
  {
    name: 'simulations that cannot be are not internal errors',
    apply: ({ method }, own, theirs) => {
      if (method !== 'eth_simulateV1' || !theirs.error || !own.error) return undefined
      const failsInSystemCall =
        /system contract/.test(own.error.message) &&
        /system call failed|empty system contract/.test(theirs.error.message)
      if (failsInSystemCall) return SAME
      if (theirs.error.code !== INTERNAL_ERROR) return undefined
      const code = own.error.code
      return [own, { ...theirs, error: { ...theirs.error, code } }]
    },
  },
  {
    name: 'indexes of simulated logs: geth uses those of failed frames again, unlike the official suite',
    apply: ({ method }, own, theirs) =>
      method === 'eth_simulateV1' ? [dropMembers(own, ['logIndex']), dropMembers(theirs, ['logIndex'])] : undefined,
  },
  {
    name: 'total difficulty, which geth no longer has',
    apply: (_, own, theirs) => [dropMembers(own, ['totalDifficulty']), theirs],
  },
  {
    name: 'geth lists accounts that neither were there nor are in differences, with a zero code hash',
    apply: ({ method }, own, theirs) =>
      method.startsWith('debug_trace') ? [own, mapObjects(theirs, withoutAbsentAccounts)] : undefined,
  },
  {
    name: 'creations of Frontier that cannot pay for their code succeed without it, and geth traces that code',
    apply: ({ method }, own, theirs) =>
      method.startsWith('debug_trace') ? pairWalk(own, theirs, frontierCreation) : undefined,
  },
  {
    name: 'no roots, and no modified accounts, are an empty list',
    apply: ({ method }, own, theirs) =>
      /^debug_(intermediateRoots|getModifiedAccounts)/.test(method) &&
      isDeepStrictEqual(own.result, []) &&
      theirs.result === null
        ? SAME
        : undefined,
  },
  {
    name: 'preimages of addresses that only transactions, receipts or calls name',
    apply: ({ method, params }, own, theirs) =>
      method === 'debug_preimage' &&
      theirs.error?.message === 'unknown preimage' &&
      typeof own.result === 'string' &&
      formatData(keccak256(parseHex(own.result))) === params[0]
        ? SAME
        : undefined,
  },
  {
    name: "blob fee of the first block of Cancun, which geth's fee history overwrites with that after the block before, or not",
    apply: ({ method }, own, theirs) => (method === 'eth_feeHistory' ? pairWalk(own, theirs, firstBlobFee) : undefined),
  },
  {
    name: 'no blocks of fee history are empty lists',
    apply: ({ method, params }, own, theirs) =>
      method === 'eth_feeHistory' && params[0] === '0x0' && own.result && theirs.result ? SAME : undefined,
  },
  {
    name: 'fee fields of calls before London, or with a block override across it, are named',
    apply: ({ method }, own, theirs) =>
      /^(eth_call|eth_estimateGas|debug_trace)/.test(method) &&
      [own, theirs].some(({ error }) => /not valid before London/.test(error?.message ?? ''))
        ? SAME
        : undefined,
  },
  {
    name: 'geth lists contracts that the call creates, which are warm, and not what a delegation points at, which is not',
    apply: ({ method }, own, theirs) =>
      method === 'eth_createAccessList' && differByWarmth(own.result, theirs.result) ? SAME : undefined,
  },
  {
    name: 'access lists that change what the call accesses, so that geth tries for ever',
    apply: ({ method }, own, theirs) =>
      method === 'eth_createAccessList' && own.result && theirs.error?.message === 'request timed out'
        ? SAME
        : undefined,
  },
  {
    name: 'geth reads a chain id from the signature of a simulated transaction of type 0, which has none',
    apply: ({ method }, own, theirs) =>
      method === 'eth_simulateV1' ? [own, mapObjects(theirs, withoutUnsignedChainId)] : undefined,
  },
  {
    name: 'geth takes the price of blobs from simulated senders that have too little: calls are compared, not the state',
    apply: ({ method, params }, own, theirs) =>
      method === 'eth_simulateV1' && own.result && theirs.result && hasUnpaidBlobs(params[0])
        ? [simulatedCalls(own), simulatedCalls(theirs)]
        : undefined,
  },
]

function withError(answer: JsonAnswer, change: (message: string) => string): JsonAnswer {
  return { ...answer, error: { ...answer.error!, message: change(answer.error!.message) } }
}

function plainWords(message: string): string {
  return message
    .replace(/^(tracing failed: |failed to apply transaction: 0x[0-9a-f]{64} err: |err: )/, '')
    .replace(/ \(supplied gas \d+\)$/, '')
    .replace(" (gas limit was capped by the RPC server's global gas cap)", '')
}

/** Returns the value with `change` applied to each object, the innermost first. */
export function mapObjects<T>(value: T, change: (object: Members) => Members): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => mapObjects(each, change)) as T
  const members = Object.entries(value).map(([name, each]) => [name, mapObjects(each, change)])
  return change(Object.fromEntries(members)) as T
}

/** Returns the value without the named members of all objects. */
export function dropMembers<T>(value: T, names: readonly string[]): T {
  return mapObjects(value, (object) =>
    Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))),
  )
}

const ABSENT = JSON.stringify({ codeHash: `0x${'00'.repeat(32)}` })

function withoutAbsentAccounts(object: Members): Members {
  return Object.fromEntries(Object.entries(object).filter(([, each]) => JSON.stringify(each) !== ABSENT))
}

/** Both values with `change` applied to each pair of objects at the same place, the outermost first. */
function pairWalk<T>(own: T, theirs: T, change: (own: Members, theirs: Members) => [Members, Members]): [T, T] {
  if (typeof own !== 'object' || typeof theirs !== 'object' || own === null || theirs === null) return [own, theirs]
  if (Array.isArray(own) && Array.isArray(theirs)) {
    const pairs = own.map((each, i) => pairWalk(each, theirs[i], change))
    const rest = theirs.slice(own.length)
    return [pairs.map(([left]) => left), [...pairs.map(([, right]) => right).slice(0, theirs.length), ...rest]] as [
      T,
      T,
    ]
  }
  const [left, right] = change(own as Members, theirs as Members)
  for (const name of Object.keys(left)) {
    if (name in right) [left[name], right[name]] = pairWalk(left[name], right[name], change)
  }
  return [left as T, right as T]
}

/** Without what shows the failure: `failed` of struct logs, `output` of a call trace, `code` of a flat one. */
function frontierCreation(own: Members, theirs: Members): [Members, Members] {
  const [left, right] = [{ ...own }, { ...theirs }]
  const forget = (name: string) => {
    delete left[name]
    delete right[name]
  }
  if (left.type === 'CREATE' && left.output === undefined && right.output !== undefined && right.error === undefined) {
    forget('output')
    forget('outOfGas')
  }
  if (left.address !== undefined && left.code === '0x' && right.code !== '0x') forget('code')
  return [left, right]
}

/** Without the first fee that geth has as zero and Cairn as one. */
function firstBlobFee(own: Members, theirs: Members): [Members, Members] {
  const [left, right] = [own.baseFeePerBlobGas, theirs.baseFeePerBlobGas]
  if (!Array.isArray(left) || !Array.isArray(right)) return [own, theirs]
  const at = left.findIndex((fee, i) => i > 0 && left[i - 1] === '0x0' && fee === '0x1' && right[i] === '0x0')
  const without = (members: Members, fees: unknown[]) => ({
    ...members,
    baseFeePerBlobGas: fees.filter((_, i) => i !== at),
  })
  return at === -1 ? [own, theirs] : [without(own, left), without(theirs, right)]
}

/** Status, gas, output, logs and errors of the calls without hashes. */
function simulatedCalls({ result }: JsonAnswer): JsonAnswer {
  const blocks = result as { calls: Members[] }[]
  return { result: blocks.map(({ calls }) => dropMembers(calls, ['blockHash', 'transactionHash'])) }
}

const UNSIGNED_CHAIN_ID = '0x7fffffffffffffee' // (0 - 35) / 2 in 64 bits

function withoutUnsignedChainId(object: Members): Members {
  const { chainId, ...rest } = object
  return object.type === '0x0' && object.v === '0x0' && chainId === UNSIGNED_CHAIN_ID ? rest : object
}

/** Whether calls of a simulation without validation have blobs and no fee for them. */
function hasUnpaidBlobs(payload: unknown): boolean {
  const { blockStateCalls, validation } = payload as { blockStateCalls: { calls?: Members[] }[]; validation?: boolean }
  const calls = blockStateCalls.flatMap((block) => block.calls ?? [])
  return !validation && calls.some((call) => call.blobVersionedHashes && call.maxFeePerBlobGas === undefined)
}

/** Whether an account without slots is in only one of the lists: the lists, and the gas, follow from that. */
function differByWarmth(own: unknown, theirs: unknown): boolean {
  const [left, right] = [own, theirs].map((result) => (result as CreatedList | undefined)?.accessList)
  if (left === undefined || right === undefined) return false
  const onlyIn = (list: Entry[], other: Entry[]) =>
    list.some(({ address, storageKeys }) => storageKeys.length === 0 && !other.some((each) => each.address === address))
  return onlyIn(left, right) || onlyIn(right, left)
}

type Entry = { address: string; storageKeys: string[] }
type CreatedList = { accessList: Entry[] }
