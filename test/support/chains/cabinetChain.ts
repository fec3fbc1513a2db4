import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { createForkGenesis } from './forkGenesis.js'
import { readContracts, readSources } from './solidityContracts.js'

/* A contract with variables of every kind, and its bundle. */

const { Cabinet } = readContracts().contracts
const sender = createSender('cabinet')
const SENDER = formatData(sender.address) as Address

/** The contract. */
export const CABINET = getContractAddress({ from: SENDER, nonce: 0n }).toLowerCase() as Address
/** A minimal proxy (EIP-1167) of it. */
export const CABINET_PROXY: Address = `0x${'e7'.repeat(20)}`
export const CABINET_ABI = Cabinet.abi

/** Writes a chain to `datadir` that deploys the contract in block 1, and fills it and its proxy in blocks 2 and 3, each
 *  with the values of another seed. */
export async function writeCabinetChain(datadir: string): Promise<void> {
  sender.nonce = 0n
  const code = `0x363d3d373d3d3d363d73${CABINET.slice(2)}5af43d82803e903d91602b57fd5bf3`
  const genesis = createForkGenesis('cancun', {
    [SENDER]: { balance: '0x152d02c7e14af6800000' },
    [CABINET_PROXY]: { balance: '0x0', nonce: '0x1', code },
  })
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  const fill = (to: Address, seed: bigint) => ({
    ...{ sender, to: parseHex(to), gasLimit: 10_000_000n },
    input: parseHex(encodeFunctionData({ abi: Cabinet.abi, functionName: 'fill', args: [seed] })),
  })
  const deploy = { sender, input: parseHex(encodeDeployData({ ...Cabinet, args: [1n] })), gasLimit: 14_000_000n }
  for (const plan of [deploy, fill(CABINET, 2n), fill(CABINET_PROXY, 3n)]) {
    const { receipts } = await builder.add({ transactions: [plan] })
    if (receipts[0].status !== 1) throw new Error(`block ${builder.blocks.length}: the transaction failed`)
  }
  db.close()
}

/** Files of a bundle by path. */
export type BundleFiles = { readonly [path: string]: string }

/** The files of the contract's bundle. */
export function cabinetBundle(): BundleFiles {
  return {
    'metadata.json': Cabinet.metadata!,
    'storageLayout.json': JSON.stringify(Cabinet.storageLayout),
    'sources/Cabinet.sol': readSources()['Cabinet.sol'].content,
  }
}

/** Writes the files of a bundle below a directory. */
export function writeBundle(directory: string, files: BundleFiles): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
}
