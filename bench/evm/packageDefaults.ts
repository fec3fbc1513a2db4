import { createBlockFromRLP, type Block as PackageBlock } from '@ethereumjs/block'
import { Common, createCommonFromGethGenesis, Mainnet, Sepolia } from '@ethereumjs/common'
import { Account, Address, type KZG } from '@ethereumjs/util'
import { createVM, runBlock, type VM } from '@ethereumjs/vm'
import { encodeBlock } from '../../src/chain/eth/block.js'
import type { GenesisAccount } from '../../src/chain/eth/genesis.js'
import type { Block } from '../../src/chain/eth/types.js'
import { loadKzgVerifier } from '../../src/evm/interpreter/precompiles/kzg.js'
import { padLeft } from '../../src/lib/bytes.js'
import type { BenchCall } from './shapes.js'

/* @ethereumjs as it comes: createVM with nothing but the chain, so a Merkle state manager in memory and the crypto of
 * @noble. KZG alone is given, without which blob transactions cannot be read at all. */

/** The rules of a chain: a genesis in geth's format or a network. `mergeBlock` is the first block under proof of stake,
 *  which the package cannot find out by itself. */
export async function createDefaultCommon(
  chain: { genesis: { config: object } } | { network: 'mainnet' | 'sepolia' },
  mergeBlock?: number,
): Promise<Common> {
  const customCrypto = { kzg: { verifyProof: await loadKzgVerifier() } as KZG }
  if ('network' in chain)
    return new Common({ chain: { mainnet: Mainnet, sepolia: Sepolia }[chain.network], customCrypto })
  const { genesis } = chain
  const merge = mergeBlock === undefined ? {} : { mergeNetsplitBlock: mergeBlock }
  const withMerge = { ...genesis, config: { ...merge, ...genesis.config } }
  return createCommonFromGethGenesis(withMerge as never, { chain: 'bench', customCrypto })
}

/** A VM over the accounts. */
export async function createDefaultVm(
  common: Common,
  accounts: Iterable<GenesisAccount>,
  blockHash: (number: number) => Uint8Array,
): Promise<VM> {
  const getBlock = async (number: number) => ({ hash: () => blockHash(number) })
  const blockchain = { getBlock, shallowCopy: () => blockchain } as never
  const vm = await createVM({ common, blockchain, setHardfork: true })
  const { stateManager } = vm
  // Without a checkpoint: that takes half of the time.
  for (const { address, nonce, balance, code, storage } of accounts) {
    const at = new Address(address)
    await stateManager.putAccount(at, new Account(nonce, balance))
    if (code.length > 0) await stateManager.putCode(at, code)
    for (const { slot, value } of storage) await stateManager.putStorage(at, padLeft(slot, 32), value)
  }
  return vm
}

/** The package's block of ours. */
export function toPackageBlock(block: Block, common: Common): PackageBlock {
  return decodePackageBlock(encodeBlock(block), common)
}

/** The package's block of the bytes. */
export function decodePackageBlock(bytes: Uint8Array, common: Common): PackageBlock {
  return createBlockFromRLP(bytes, { common, setHardfork: true })
}

/** Executes a block and compares gas, bloom, receipts root and state root with its header. The header itself is taken
 *  as right, which spares the package the work. @throws Error when they differ. */
export async function runDefaultBlock(vm: VM, block: PackageBlock): Promise<void> {
  await runBlock(vm, { block, skipBlockValidation: true })
}

/** Runs a call and drops what it changes: a checkpoint that is reverted, since a copy of the VM for each call, as
 *  @ethereumjs/client has it, costs 0.5 ms more. @throws Error when the call fails. */
export async function runDefaultCall(vm: VM, block: PackageBlock, { from, to, data }: BenchCall): Promise<Uint8Array> {
  const { evm, stateManager } = vm
  await stateManager.checkpoint()
  try {
    const caller = from && new Address(from)
    const { execResult } = await evm.runCall({
      block: block as never,
      caller,
      origin: caller,
      to: new Address(to),
      data,
      gasLimit: block.header.gasLimit,
    })
    if (execResult.exceptionError) throw new Error(`package defaults: ${execResult.exceptionError.error}`)
    return execResult.returnValue
  } finally {
    await stateManager.revert()
    evm.journal.cleanJournal()
  }
}
