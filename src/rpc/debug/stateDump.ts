import { formatChecksumAddress } from '../../chain/eth/checksumAddress.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { formatData } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { AccountEntry } from '../../store/state/hashedRanges.js'
import { findBlock, requireStateBlock } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import { LIMIT_EXCEEDED, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { ErrorDoc } from '../core/method.js'
import { BEYOND_ALL, type BlockId, hash32, text } from '../core/params.js'

/** Maximum accounts of a dump: geth's limit. */
export const MAX_DUMPED_ACCOUNTS = 256
/** Maximum slots of a dump: 8 MB of JSON. A page with more ends earlier. */
const MAX_DUMPED_SLOTS = 50_000

/** Error for an account whose storage alone exceeds the limit. */
export const STORAGE_TOO_LARGE = {
  code: LIMIT_EXCEEDED,
  message: `the storage of … has more than ${MAX_DUMPED_SLOTS} slots; ask with nostorage, or for parts with debug_storageRangeAt`,
} as const
/** Error for an unknown block. */
export const DUMP_BLOCK_ERROR = { code: SERVER_ERROR, message: 'block … not found' } as const

/** Error of methods that need the state trie of a block, which may be far behind the head. */
export function trieTooFar(method: string, limit: string): ErrorDoc {
  return {
    code: SERVER_ERROR,
    message:
      `${method}: the state trie of block … cannot be restored within ${limit}: it is … blocks behind the head; ask for one of the ` +
      'last 128 blocks, or raise --call-timeout',
    when: 'a chain with a large state has moved on by many blocks',
  }
}

/** The result of dumps. */
export const DUMP_RESULT = {
  name: 'state',
  schema: {
    type: 'object',
    properties: { root: text.schema, accounts: { type: 'object' }, next: hash32.schema },
    required: ['root', 'accounts'],
  },
} as const

/** Selects what a dump includes. */
interface DumpTerms {
  readonly start: Uint8Array // 32
  readonly limit: number
  readonly withCode: boolean
  readonly withStorage: boolean
}

/** Returns the block with that id, whose state is stored. @throws RpcError */
export function requireDumpBlock({ chain }: RpcContext, id: BlockId): StoredBlock {
  const block = findBlock(chain, id)
  if (block === undefined) throw new RpcError(SERVER_ERROR, DUMP_BLOCK_ERROR.message.replace('…', describeId(id)))
  requireStateBlock(chain, block.header.number)
  return block
}

function describeId(id: BlockId): string {
  if (typeof id === 'object') return formatData(id.hash)
  return id === BEYOND_ALL ? '#2^53 or above' : `#${id}`
}

/** Accounts of the state after a block in the form of geth, ordered by the hashes of their addresses. */
export function dumpState(context: RpcContext, block: StoredBlock, terms: DumpTerms): object {
  const { ranges, evm, deadline } = context
  const { number, stateRoot } = block.header
  const check = () => deadline.check()
  const { entries, next } = ranges.accounts(number, { ...terms, check })
  const accounts: { [address: string]: object } = {}
  let slotsLeft = MAX_DUMPED_SLOTS
  for (const entry of entries) {
    const storage = terms.withStorage ? readStorage(context, { entry, number, limit: slotsLeft }) : {}
    if (storage === undefined) {
      if (slotsLeft === MAX_DUMPED_SLOTS) throw storageTooLarge(entry)
      return { root: formatData(stateRoot).slice(2), accounts, next: formatData(entry.hash) }
    }
    slotsLeft -= Object.keys(storage).length
    const { storageRoot } = evm.proveAccount({ address: entry.address, slots: [] }, number, deadline)
    accounts[formatChecksumAddress(entry.address)] = formatAccount(context, entry, { storageRoot, storage, ...terms })
  }
  return { root: formatData(stateRoot).slice(2), accounts, ...(next === undefined ? {} : { next: formatData(next) }) }
}

/** Slots and values without leading zeros; undefined for more than `limit`. */
function readStorage(
  { ranges, deadline }: RpcContext,
  { entry, number, limit }: { entry: AccountEntry; number: number; limit: number },
): { [slot: string]: string } | undefined {
  const range = { start: new Uint8Array(32), limit, check: () => deadline.check() }
  const { entries, next } = ranges.slots(entry.address, number, range)
  if (next !== undefined) return undefined
  return Object.fromEntries(entries.map(({ slot, value }) => [formatData(slot), formatData(value).slice(2)]))
}

function formatAccount(
  { ranges }: RpcContext,
  { hash, address, account }: AccountEntry & { hash: Uint8Array },
  { storageRoot, storage, withCode }: { storageRoot: Uint8Array; storage: object; withCode: boolean },
): object {
  const code = ranges.code(account)
  return {
    balance: String(account.balance),
    nonce: Number(account.nonce),
    root: formatData(storageRoot),
    codeHash: formatData(code?.hash ?? EMPTY_CODE_HASH),
    ...(code !== undefined && withCode ? { code: formatData(code.bytes) } : {}),
    ...(Object.keys(storage).length > 0 ? { storage } : {}),
    address: formatData(address),
    key: formatData(hash),
  }
}

function storageTooLarge({ address }: AccountEntry): RpcError {
  return new RpcError(STORAGE_TOO_LARGE.code, STORAGE_TOO_LARGE.message.replace('…', formatData(address)))
}
