import { type ChainSpec, type Rules, rulesAt } from '../../chain/eth/forks/rules.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { encodeTransaction } from '../../chain/eth/transaction.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { type Fields, readFields } from '../../sources/ethRpc/fields.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import type { EngineChain, ForkChoice } from './engineChain.js'
import { EngineRefusal } from './errors.js'
import type { PayloadStatus } from './statuses.js'

/** What the methods work on. */
export interface EngineContext {
  readonly chain: EngineChain
  readonly reader: ChainReader
  readonly version: string
}

/** Answers a method of the Engine API: its result as JSON. @throws EngineRefusal; what reading and writing the database
 *  throws */
export async function callEngine(context: EngineContext, method: string, params: unknown): Promise<unknown> {
  const run = METHODS[method]
  if (run === undefined) throw new EngineRefusal('unknown method', `the method ${method} does not exist`)
  if (params !== undefined && !Array.isArray(params)) throw new EngineRefusal('invalid params', 'expected a list')
  try {
    return await run(context, params ?? [])
  } catch (error) {
    if (error instanceof DecodeError) throw new EngineRefusal('invalid params', error.message)
    throw error
  }
}

type Run = (context: EngineContext, params: readonly unknown[]) => unknown

const METHODS: { readonly [method: string]: Run | undefined } = {
  engine_exchangeCapabilities: () => CAPABILITIES,
  engine_getClientVersionV1: ({ version }) => [{ code: 'XX', name: 'Cairn', version, commit: '0x00000000' }],
  engine_newPayloadV1: newPayload(1),
  engine_newPayloadV2: newPayload(2),
  engine_newPayloadV3: newPayload(3),
  engine_newPayloadV4: newPayload(4),
  engine_newPayloadV5: newPayload(5),
  engine_forkchoiceUpdatedV1: forkchoiceUpdated(1),
  engine_forkchoiceUpdatedV2: forkchoiceUpdated(2),
  engine_forkchoiceUpdatedV3: forkchoiceUpdated(3),
  engine_forkchoiceUpdatedV4: forkchoiceUpdated(4),
  engine_getPayloadV1: getPayload,
  engine_getPayloadV2: getPayload,
  engine_getPayloadV3: getPayload,
  engine_getPayloadV4: getPayload,
  engine_getPayloadV5: getPayload,
  engine_getPayloadV6: getPayload,
  engine_getPayloadBodiesByHashV1: bodiesByHash(1),
  engine_getPayloadBodiesByHashV2: bodiesByHash(2),
  engine_getPayloadBodiesByRangeV1: bodiesByRange(1),
  engine_getPayloadBodiesByRangeV2: bodiesByRange(2),
  engine_getBlobsV1: getBlobs(1),
  engine_getBlobsV2: getBlobs(2),
  engine_getBlobsV3: getBlobs(3),
  engine_getBlobsV4: getBlobs(4),
}

/** The methods without `engine_exchangeCapabilities` itself (Engine API, common definitions). */
const CAPABILITIES = Object.keys(METHODS).filter((method) => method !== 'engine_exchangeCapabilities')

// ---- Payloads

function newPayload(version: 1 | 2 | 3 | 4 | 5): Run {
  return ({ chain, reader }, params) => {
    const payload = readFields(params[0], 'payload')
    const [, versionedHashes, parentBeaconBlockRoot, requests] = params
    requireMembers(payload, version)
    if (version >= 3) requireParams(params, version)
    requireFork(reader.spec(), payload, version)
    return chain.newPayload({
      payload: params[0],
      ...(version >= 3 && { versionedHashes, parentBeaconBlockRoot }),
      ...(version >= 4 && { requests }),
    })
  }
}

/** Members of payloads, and the versions of the method that have them. */
const MEMBERS = [
  { name: 'withdrawals', first: 2 },
  { name: 'blobGasUsed', first: 3 },
  { name: 'excessBlobGas', first: 3 },
  { name: 'blockAccessList', first: 5 },
  { name: 'slotNumber', first: 5 },
] as const

/** @throws EngineRefusal for a member that is missing, or that only later versions have */
function requireMembers(payload: Fields, version: number): void {
  for (const { name, first } of MEMBERS) {
    const isOptional = version === 2 && name === 'withdrawals' // by the fork of the payload
    const isExpected = version >= first
    if (isOptional || payload.has(name) === isExpected) continue
    throw new EngineRefusal(
      'invalid params',
      isExpected ? `payload.${name} is missing` : `payload.${name} is not a member before version ${first}`,
    )
  }
}

function requireParams(params: readonly unknown[], version: number): void {
  const names = ['expectedBlobVersionedHashes', 'parentBeaconBlockRoot', ...(version >= 4 ? ['executionRequests'] : [])]
  for (const [i, name] of names.entries()) {
    if (params[i + 1] === undefined || params[i + 1] === null)
      throw new EngineRefusal('invalid params', `${name} is missing`)
  }
}

/** @throws EngineRefusal when the payload is of a fork for which another version exists */
function requireFork(spec: ChainSpec, payload: Fields, version: number): void {
  const rules = rulesAt(spec, payload.integer('blockNumber'), payload.quantity('timestamp'))
  if (version === 2 && !rules.eip4844 && payload.has('withdrawals') !== rules.eip4895) {
    throw new EngineRefusal('invalid params', `payload.withdrawals: expected ${rules.eip4895 ? 'a list' : 'none'}`)
  }
  if (isOfVersion(rules, version)) return
  throw new EngineRefusal('unsupported fork', `a payload of ${rules.fork} needs another version than V${version}`)
}

/** True for the forks of a version of `engine_newPayload`. V1 is also answered for later forks, as an invalid block. */
function isOfVersion(rules: Rules, version: number): boolean {
  if (version === 1) return true
  if (version === 2) return !rules.eip4844
  if (version === 3) return rules.eip4844 && !rules.eip7685
  if (version === 4) return rules.eip7685 && !rules.eip7928
  return rules.eip7928
}

// ---- Fork choice

function forkchoiceUpdated(version: 1 | 2 | 3 | 4): Run {
  return async ({ chain, reader }, [state, attributes]) => {
    const choice = readForkChoice(state)
    if (choice === undefined) return answer({ status: 'INVALID', latestValidHash: null, validationError: null })
    const status = await chain.forkchoiceUpdated(choice)
    if (attributes !== undefined && attributes !== null && status.status === 'VALID') {
      throw refuseAttributes(reader, choice, { attributes, version })
    }
    return answer(status)
  }
}

function answer(payloadStatus: PayloadStatus) {
  return { payloadStatus, payloadId: null }
}

/** Returns the hashes; undefined for a head of zero. */
function readForkChoice(state: unknown): ForkChoice | undefined {
  const fields = readFields(state, 'forkchoiceState')
  const [head, safe, finalized] = ['headBlockHash', 'safeBlockHash', 'finalizedBlockHash'].map((name) => {
    const hash = fields.fixed(name, 32)
    return hash.some((byte) => byte !== 0) ? hash : undefined
  })
  return head && { head, safe, finalized }
}

/** Members of payload attributes, and the versions that have them. */
const ATTRIBUTES = [
  { name: 'withdrawals', first: 2 },
  { name: 'parentBeaconBlockRoot', first: 3 },
  { name: 'slotNumber', first: 4 },
] as const

/** Returns the error for payload attributes: no payload is built. The fork choice stays applied. */
function refuseAttributes(
  reader: ChainReader,
  { head }: ForkChoice,
  { attributes, version }: { attributes: unknown; version: number },
): EngineRefusal {
  const invalid = (problem: string) => new EngineRefusal('invalid attributes', problem)
  let timestamp: bigint
  let wrong: string | undefined
  try {
    const fields = readFields(attributes, 'payloadAttributes')
    timestamp = fields.quantity('timestamp')
    const isRight = ({ name, first }: (typeof ATTRIBUTES)[number]) =>
      (version === 2 && name === 'withdrawals') || fields.has(name) === version >= first
    wrong = ATTRIBUTES.find((each) => !isRight(each))?.name
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return invalid(error.message)
  }
  if (wrong !== undefined) return invalid(`payloadAttributes.${wrong} is missing, or is not a member of V${version}`)
  const number = reader.blockNumberByHash(head)
  const parent = number === undefined ? undefined : reader.blockByNumber(number)?.header
  const rules = rulesAt(reader.spec(), (number ?? 0) + 1, timestamp)
  if (!isOfAttributes(rules, version))
    return new EngineRefusal('unsupported fork', `attributes of ${rules.fork} need another version than V${version}`)
  if (parent && timestamp <= parent.timestamp)
    return invalid(`payloadAttributes.timestamp: expected later than the head`)
  return invalid('this server does not build payloads')
}

function isOfAttributes(rules: Rules, version: number): boolean {
  if (version === 1) return !rules.eip4895
  if (version === 2) return !rules.eip4844
  if (version === 3) return rules.eip4844 && !rules.eip7928
  return rules.eip7928
}

function getPayload(): never {
  throw new EngineRefusal('unknown payload', 'this server does not build payloads')
}

// ---- Bodies and blobs

/** Blocks of one request at most; the specification asks for at least as many. */
const MAX_BODIES = 32

function bodiesByHash(version: 1 | 2): Run {
  return ({ reader }, params) => {
    const hashes = readFields({ blockHashes: params[0] }, 'params').hashes('blockHashes')
    requireCount(hashes.length, MAX_BODIES, 'blocks')
    return hashes.map((hash) => {
      const number = reader.blockNumberByHash(hash)
      return number === undefined ? null : bodyAt(reader, number, version)
    })
  }
}

function bodiesByRange(version: 1 | 2): Run {
  return ({ reader }, [start, count]) => {
    const fields = readFields({ start, count }, 'params')
    const [from, length] = [fields.integer('start'), fields.integer('count')]
    if (from < 1 || length < 1) throw new EngineRefusal('invalid params', 'start and count: expected at least 1')
    requireCount(length, MAX_BODIES, 'blocks')
    const last = Math.min(from + length - 1, reader.head() ?? -1)
    return Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => bodyAt(reader, from + i, version))
  }
}

function bodyAt(reader: ChainReader, number: number, version: 1 | 2) {
  const block = reader.blockByNumber(number)
  return block === undefined ? null : formatBody(reader, block, version)
}

function formatBody(reader: ChainReader, block: StoredBlock, version: 1 | 2) {
  const list = version === 2 ? reader.blockAccessList(block.header.number) : undefined
  return {
    transactions: reader.transactions(block).map((transaction) => formatData(encodeTransaction(transaction))),
    withdrawals:
      block.withdrawals?.map(({ index, validatorIndex, address, amountGwei }) => ({
        index: formatQuantity(index),
        validatorIndex: formatQuantity(validatorIndex),
        address: formatData(address),
        amount: formatQuantity(amountGwei),
      })) ?? null,
    ...(version === 2 && { blockAccessList: list ? formatData(list) : null }),
  }
}

/** The specification asks for at least as many. */
const MAX_BLOBS = 128

/** This server has no transaction pool: V1 answers with null for each blob, later versions with null alone. */
function getBlobs(version: 1 | 2 | 3 | 4): Run {
  return (_, params) => {
    const hashes = readFields({ versionedHashes: params[0] }, 'params').hashes('versionedHashes')
    requireCount(hashes.length, MAX_BLOBS, 'blobs')
    return version === 1 ? hashes.map(() => null) : null
  }
}

function requireCount(count: number, most: number, what: string): void {
  if (count > most) throw new EngineRefusal('too large request', `expected at most ${most} ${what}, got ${count}`)
}
