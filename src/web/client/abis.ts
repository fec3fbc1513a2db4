import type { Abi } from 'viem'
import { callIfServed, callInBatch } from './rpc.js'
import { apiKey } from './session.js'
import { createStore } from './store.js'
import type { Hex, Status } from './types.js'

/* ABIs, names and signatures that the server knows. Loaded once per tab and key. */

/** Name, contract and Sourcify bundle of an ABI. */
export interface AbiSource {
  name: string
  /** Null for an ABI of any contract. */
  address: Hex | null
  compiler: string | null
  sourcifyMatch: 'full' | 'partial' | null
  metadataMatches: boolean | null
  /** Number of source files that the server has. */
  sourceFiles: number
  hasStorageLayout: boolean
}

/** An ABI of `cairn_getAbi`. */
export interface ContractAbi extends AbiSource {
  isBuiltIn: boolean
  items: Abi
}

/** A result of `cairn_getAbi`. */
export interface AbiOfContract {
  implementations: Hex[]
  abis: ContractAbi[]
}

/** A result of `cairn_findSignatures`. */
export interface KnownSignature {
  type: 'function' | 'event' | 'error'
  name: string
  signature: string
  hash: Hex
  abi: string
  address: Hex | null
}

/** What an address is called, and by whom. */
export interface Label {
  readonly text: string
  readonly kind: 'contract' | 'development'
}

/** Labels by address in lower case: names of contracts from ABIs, and accounts of development nodes. */
export const labels = createStore<ReadonlyMap<string, Label>>(new Map())

/** Accounts with public keys by chain id: those that anvil and Hardhat derive from their mnemonic, and that of geth in
 *  its dev mode. */
const DEVELOPMENT_ACCOUNTS: ReadonlyMap<number, readonly Hex[]> = new Map([
  [
    31_337,
    [
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
      '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
      '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
      '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
      '0x976ea74026e726554db657fa54763abd0c3a0aa9',
      '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
      '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
      '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
    ],
  ],
  [1337, ['0x71562b71999873db5b286df957af199ec94617f7']],
])

/** Returns the accounts of a development node with their labels, in its order; none for other chains. */
export function developmentAccounts(chainId: Hex | null): { address: Hex; label: Label }[] {
  const addresses = DEVELOPMENT_ACCOUNTS.get(Number(chainId ?? 0)) ?? []
  return addresses.map((address, i) => ({ address, label: { text: `Account ${i}`, kind: 'development' } }))
}

/** Loads the labels now and after a change of the key. A failure leaves addresses without labels. */
export function loadLabels(): void {
  apiKey.watch(() => void refreshLabels())
  void refreshLabels()
}

/** Loads the labels again, after an ABI was added. */
export async function refreshLabels(): Promise<void> {
  signatures.clear()
  const [abis, status] = await Promise.all([
    callIfServed<AbiSource[]>('cairn_listAbis').catch(() => undefined),
    callIfServed<Status>('cairn_getStatus').catch(() => undefined),
  ])
  const found = new Map<string, Label>()
  for (const { address, label } of developmentAccounts(status?.chainId ?? null)) found.set(address, label)
  for (const { name, address } of abis ?? []) {
    if (address !== null && !found.has(address)) found.set(address, { text: name, kind: 'contract' })
  }
  labels.set(found)
}

const signatures = new Map<string, Promise<readonly KnownSignature[]>>()

/** Returns the known functions of a selector, or the events of a topic; empty if none is known. Never rejects. */
export function signaturesOf(hash: string): Promise<readonly KnownSignature[]> {
  let found = signatures.get(hash)
  if (found === undefined) {
    found = callInBatch<KnownSignature[]>('cairn_findSignatures', [hash]).catch(() => [])
    signatures.set(hash, found)
  }
  return found
}

/** Returns the signature that the contract at `address` most likely means: that of its own ABI, else the first one. */
export function chooseSignature(
  found: readonly KnownSignature[],
  type: KnownSignature['type'],
  address: string | null,
): KnownSignature | undefined {
  const fitting = found.filter((each) => each.type === type)
  return fitting.find((each) => each.address !== null && each.address === address?.toLowerCase()) ?? fitting[0]
}
