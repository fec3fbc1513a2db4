import { developmentAccounts } from '../client/abis.js'
import { callInBatch } from '../client/rpc.js'
import type { Hex } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { formatCount } from '../format.js'
import { Section, Table } from '../ui/Layout.js'
import { AddressLink, Code, Ether } from '../ui/Value.js'

interface Account {
  readonly address: Hex
  readonly balance: Hex
  readonly nonce: Hex
}

/** The accounts of a development node that were used or have ether; nothing on other chains, or without state. */
export function DevelopmentAccounts({ chainId, head }: { chainId: Hex | null; head: Hex }) {
  const addresses = developmentAccounts(chainId).map(({ address }) => address)
  const request = useRequest(() => loadAccounts(addresses), [addresses, head])
  const accounts = request.data ?? []
  if (accounts.length === 0) return null
  return (
    <Section title="Accounts of the development node" note="their keys are public">
      <Table
        caption="Accounts of the development node"
        columns={[
          'Account',
          { name: 'Address', isWide: true },
          { name: 'Balance, ETH', isNumber: true },
          { name: 'Nonce', isNumber: true },
        ]}
        rows={accounts.map(({ address, balance, nonce }) => [
          <AddressLink key="name" address={address} copies={false} />,
          <Code key="address" text={address} whole />,
          <Ether key="balance" wei={balance} isBrief />,
          formatCount(nonce),
        ])}
      />
    </Section>
  )
}

async function loadAccounts(addresses: readonly Hex[]): Promise<Account[]> {
  const accounts = await Promise.all(
    addresses.map(async (address) => {
      const [balance, nonce] = await Promise.all([
        callInBatch<Hex>('eth_getBalance', [address, 'latest']),
        callInBatch<Hex>('eth_getTransactionCount', [address, 'latest']),
      ])
      return { address, balance, nonce }
    }),
  )
  return accounts.filter(({ balance, nonce }) => BigInt(balance) > 0n || BigInt(nonce) > 0n)
}
