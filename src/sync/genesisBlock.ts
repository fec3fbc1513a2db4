import { keccak256 } from '../chain/crypto.js'
import { encodeBlock } from '../chain/eth/block.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { familyOf } from '../chain/eth/families/families.js'
import { type ChainSpec, commitsToState } from '../chain/eth/forks/rules.js'
import { type Genesis, InvalidGenesis } from '../chain/eth/genesis.js'
import type { Block, Header } from '../chain/eth/types.js'
import type { Executor } from '../evm/transition/blockExecutor.js'
import { equalBytes } from '../lib/bytes.js'
import { UsageError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import { type ChainSource, genesisOfSource } from '../store/rows/chainSource.js'
import { hashAccounts, hashStorage } from '../trie/stateRoot.js'

/** Returns the hash of block 0 of a chain, 32 bytes. Its state is hashed unless the genesis has its root or that hash.
 *  @throws InvalidGenesis */
export function hashGenesisBlock(source: ChainSource): Uint8Array {
  const genesis = genesisOfSource(source)
  return genesis.hash ?? familyOf(genesis.spec).hashHeader(headerWithRoot(genesis))
}

/** Returns the header of block 0 with a state root, 32 bytes, and with the storage root of an account as its
 *  withdrawals root where the family has it there (specs/protocol/isthmus/exec-engine.md). */
export function genesisHeader({ spec, accounts, header: given }: Genesis, stateRoot: Uint8Array): Header {
  const header = { ...given, stateRoot }
  const address = familyOf(spec).execution?.withdrawalsAccount?.(spec, header)
  const account = address && accounts.find((each) => equalBytes(each.address, address))
  return account === undefined ? header : { ...header, withdrawalsRoot: hashStorage(account.storage) }
}

function headerWithRoot(genesis: Genesis): Header {
  return hasStateRoot(genesis.header) ? genesis.header : genesisHeader(genesis, hashGenesis(genesis))
}

/** @throws UsageError for a genesis without its state, from which no block can be executed */
export function requireGenesisState({ spec, hash, accounts }: Genesis): void {
  if (hash === undefined || accounts.length > 0) return
  const { notFromGenesis } = familyOf(spec)
  throw new UsageError(
    `--state execute: ${notFromGenesis ?? 'the state of block 0 is not known; --genesis FILE with alloc has it, and --state sparse or none begins at any block'}`,
  )
}

/** The state root of a genesis: 32 bytes. */
function hashGenesis({ accounts }: Genesis): Uint8Array {
  return hashAccounts(
    accounts.map(({ address, nonce, balance, code, storage }) => ({
      ...{ address, cleared: false, slots: [...storage] },
      account: { nonce, balance, codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccak256(code) },
    })),
  )
}

/** Returns block 0 where it is known without its state, or where `hashesState` asks to hash that. */
export function genesisBlockOf(genesis: Genesis, hashesState: boolean): Block | undefined {
  if (genesis.hash !== undefined) return { ...blockOf(genesis.spec, genesis.header), hash: genesis.hash }
  if (hasStateRoot(genesis.header)) return blockOf(genesis.spec, genesis.header)
  return hashesState ? blockOf(genesis.spec, headerWithRoot(genesis)) : undefined
}

/** Initializes the genesis state and returns block 0. @throws InvalidGenesis if the file has the root of another
 *  state. */
export async function initGenesis(genesis: Genesis, executor: Executor): Promise<Block> {
  const { spec, header } = genesis
  const stateRoot = await executor.initGenesis(genesis)
  if (!hasStateRoot(header)) return blockOf(spec, genesisHeader(genesis, stateRoot))
  requireState(spec, header, stateRoot)
  return blockOf(spec, header)
}

/** @throws InvalidGenesis if the header has the root of another state */
export function requireState(spec: ChainSpec, header: Header, stateRoot: Uint8Array): void {
  if (equalBytes(header.stateRoot, stateRoot) || !commitsToState(spec, header.number)) return
  const [expected, actual] = [formatData(stateRoot), formatData(header.stateRoot)]
  throw new InvalidGenesis(`stateHash: expected the root of alloc, ${expected}, got ${actual}`)
}

/** False for the header of a genesis without `stateHash`. */
function hasStateRoot({ stateRoot }: Header): boolean {
  return stateRoot.some((byte) => byte !== 0)
}

/** Returns block 0 with that header. */
function blockOf(spec: ChainSpec, header: Header): Block {
  const withdrawals = header.withdrawalsRoot ? [] : undefined
  const hash = familyOf(spec).hashHeader(header)
  const block: Block = { hash, header, transactions: [], uncles: [], withdrawals, sizeBytes: 0 }
  return { ...block, sizeBytes: encodeBlock(block).length }
}
