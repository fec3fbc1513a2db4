import { createStore } from './store.js'
import type { Hex } from './types.js'

/* Wallets that browser extensions inject (EIP-1193), found by EIP-6963 or at `window.ethereum`. */

/** A provider of EIP-1193. */
interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

/** A wallet: its provider, and the name it calls itself. */
export interface Wallet {
  readonly id: string
  readonly name: string
  readonly provider: Provider
}

/** The wallets that were found. */
export const wallets = createStore<readonly Wallet[]>([])

interface Announcement {
  readonly info: { readonly uuid: string; readonly name: string }
  readonly provider: Provider
}

/** Looks for wallets from now on. */
export function watchWallets(): void {
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail
    if (wallets.get().some(({ id }) => id === info.uuid)) return
    wallets.set([...wallets.get().filter(({ id }) => id !== 'injected'), { id: info.uuid, name: info.name, provider }])
  })
  dispatchEvent(new Event('eip6963:requestProvider'))
  const { ethereum } = globalThis as { ethereum?: Provider }
  if (ethereum !== undefined && wallets.get().length === 0) {
    wallets.set([{ id: 'injected', name: 'the wallet of this browser', provider: ethereum }])
  }
}

/** A chain, as wallets are asked for it. */
export interface WalletChain {
  readonly chainId: Hex
  readonly rpcUrl: string
  readonly explorerUrl: string
}

/** The wallet does not know the chain (EIP-3085). */
const UNKNOWN_CHAIN = 4902

/** Has the wallet sign and send a transaction on the chain. Asks it for an account, and for the chain if it uses
 *  another one. Returns the hash of the transaction. @throws the wallet's error */
export async function sendByWallet(
  { provider }: Wallet,
  chain: WalletChain,
  transaction: { to: string; data: Hex; value: Hex },
): Promise<Hex> {
  const [from] = (await provider.request({ method: 'eth_requestAccounts' })) as Hex[]
  if (from === undefined) throw new Error('the wallet has no account')
  await useChain(provider, chain)
  return (await provider.request({ method: 'eth_sendTransaction', params: [{ from, ...transaction }] })) as Hex
}

async function useChain(provider: Provider, { chainId, rpcUrl, explorerUrl }: WalletChain): Promise<void> {
  const current = (await provider.request({ method: 'eth_chainId' })) as Hex
  if (BigInt(current) === BigInt(chainId)) return
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] })
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_CHAIN) throw error
    const chain = {
      chainId,
      chainName: `Cairn ${Number(chainId)}`,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: [rpcUrl],
      blockExplorerUrls: [explorerUrl],
    }
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
  }
  const used = (await provider.request({ method: 'eth_chainId' })) as Hex
  if (BigInt(used) !== BigInt(chainId)) throw new Error(`the wallet uses chain ${Number(used)}, not ${Number(chainId)}`)
}
