import type { ComponentChildren } from 'preact'
import { CallFailed, call, callIfServed } from '../client/rpc.js'
import type { Hex } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, formatCount } from '../format.js'
import type { LogFilter } from '../logFilter.js'
import { linkTo, type Route } from '../routing.js'
import { Facts, Section, Tabs, ViewTitle } from '../ui/Layout.js'
import { Name, useLabel } from '../ui/Name.js'
import { Empty, Loaded } from '../ui/States.js'
import { TokenLink, useToken } from '../ui/TokenAmount.js'
import { AddressLink, Code, CopyButton, Ether, TransactionLink } from '../ui/Value.js'
import { AddressHistory } from './AddressHistory.js'
import { BalanceChart, StorageReader } from './AddressState.js'
import { AddressTokens } from './AddressTokens.js'
import { ContractView } from './ContractView.js'
import { InternalTransfers } from './InternalTransfers.js'
import { LogSearch } from './LogsView.js'
import { AccountTransfers } from './TokenTransfers.js'

interface Account {
  balance: Hex
  nonce: Hex
  code: Hex
  creator: { hash: Hex; creator: Hex } | null
}

/** An address: its account, history, tokens, code and storage. `note` is shown below it. */
export function AddressView({ route, note }: { route: Route; note?: string }) {
  const address = route.item
  const tab = route.query.get('tab') ?? 'transactions'
  const request = useRequest(() => loadAccount(address), [address])
  const label = useLabel(address)
  const isContract = request.data !== undefined && request.data.code !== '0x'
  const token = useToken(isContract ? address : undefined)
  const cursor = route.query.get('cursor') ?? ''
  const link = (name: string) => linkTo('address', address, name === 'transactions' ? {} : { tab: name })
  return (
    <>
      <ViewTitle item={address} actions={<a href={linkTo('logs', '', { address })}>Logs</a>}>
        {isContract ? 'Contract' : 'Address'}
        {label !== undefined && (
          <>
            {' '}
            <Name text={label.text} />
          </>
        )}
      </ViewTitle>
      <p class="subtitle">
        <Code text={address} whole />
      </p>
      {note !== undefined && (
        <p class="aside" role="status">
          {note}
        </p>
      )}
      <Loaded request={request} what="the account">
        {(account) => (
          <>
            <AccountFacts account={account} token={token && <TokenLink token={address} names={token} />} />
            <Tabs
              label="Parts of the account"
              current={tab}
              tabs={[
                ['transactions', 'Transactions', link('transactions')],
                ['tokens', 'Tokens', link('tokens')],
                ['transfers', 'Token transfers', link('transfers')],
                ['internal', 'Internal transfers', link('internal')],
                ['events', 'Events', link('events')],
                ...(isContract ? [['contract', 'Contract', link('contract')] as const] : []),
                ['balance', 'Balance over time', link('balance')],
                ['code', 'Code', link('code')],
                ['storage', 'Storage', link('storage')],
              ]}
            />
            {tab === 'tokens' && <AddressTokens account={address} cursor={cursor} />}
            {tab === 'transfers' && <AccountTransfers account={address} cursor={cursor} />}
            {tab === 'internal' && <InternalTransfers account={address} cursor={cursor} />}
            {tab === 'events' && <LogSearch key={address} filter={eventsOf(address)} />}
            {tab === 'contract' && <ContractView key={address} address={address} />}
            {tab === 'balance' && <BalanceChart address={address} />}
            {tab === 'code' && <ContractCode code={account.code} />}
            {tab === 'storage' && <StorageReader key={address} address={address} isContract={account.code !== '0x'} />}
            {tab === 'transactions' && (
              <AddressHistory address={address} before={Number(route.query.get('before') ?? 0)} />
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

function eventsOf(address: string): LogFilter {
  return { address: address as Hex, fromBlock: 'earliest', toBlock: 'latest' }
}

async function loadAccount(address: string): Promise<Account> {
  const [balance, nonce, code] = await Promise.all([
    call<Hex>('eth_getBalance', [address, 'latest']),
    call<Hex>('eth_getTransactionCount', [address, 'latest']),
    call<Hex>('eth_getCode', [address, 'latest']),
  ])
  const creator = code === '0x' || DELEGATION.test(code) ? null : await findCreator(address)
  return { balance, nonce, code, creator }
}

/** Returns null if unknown: finding it needs state and the address index. */
async function findCreator(address: string): Promise<Account['creator']> {
  try {
    return (await callIfServed<Account['creator']>('ots_getContractCreator', [address])) ?? null
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'call') return null
    throw error
  }
}

/** Matches the code of an account that delegates to a contract (EIP-7702). */
const DELEGATION = /^0xef0100([\da-f]{40})$/

function AccountFacts(props: { account: Account; token: ComponentChildren | undefined }) {
  const { balance, nonce, code, creator } = props.account
  const target = DELEGATION.exec(code)?.[1]
  return (
    <Facts
      facts={[
        ['Balance', <Ether key="v" wei={balance} />],
        ['Nonce', formatCount(nonce)],
        code !== '0x' && target === undefined && ['Code', `${formatCount(byteLength(code))} bytes`],
        target !== undefined && ['Delegates to', <AddressLink key="v" address={`0x${target}`} whole />],
        props.token !== undefined && ['Token', props.token],
        creator !== null && ['Made by', <AddressLink key="v" address={creator.creator} whole />],
        creator !== null && ['Made in', <TransactionLink key="v" hash={creator.hash} />],
      ]}
    />
  )
}

/** Contract code, up to 64 KiB of hex: shown in full. */
function ContractCode({ code }: { code: Hex }) {
  if (code === '0x') {
    return <Empty title="This account has no code">It is not a contract at the newest block.</Empty>
  }
  return (
    <Section title="Code" note={`${formatCount(byteLength(code))} bytes`}>
      <div class="raw">
        <CopyButton text={code} what="code" />
        <pre>{code}</pre>
      </div>
    </Section>
  )
}
