import { call } from '../client/rpc.js'
import type { AccountState, Hex, StateDiff } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, formatEther, formatPlural } from '../format.js'
import { Section } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, Code } from '../ui/Value.js'

/** The state changes of a transaction. */
export function StateDifference({ hash }: { hash: string }) {
  const options = { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }
  const request = useRequest(() => call<StateDiff>('debug_traceTransaction', [hash, options]), [hash])
  return (
    <Loaded request={request} what="the state changes">
      {({ pre, post }) => {
        const addresses = [...new Set([...Object.keys(pre), ...Object.keys(post)])]
        if (addresses.length === 0) return <Empty title="This transaction changed no account" />
        return (
          <Section title="State changes" note={formatPlural(addresses.length, 'account')}>
            <div class="cards">
              {addresses.map((address) => (
                <AccountChange key={address} address={address} pre={pre[address]} post={post[address]} />
              ))}
            </div>
          </Section>
        )
      }}
    </Loaded>
  )
}

function AccountChange({ address, pre, post }: { address: string; pre?: AccountState; post?: AccountState }) {
  const slots = [...new Set([...Object.keys(pre?.storage ?? {}), ...Object.keys(post?.storage ?? {})])]
  // `post` omits what did not change. What was removed is only in `pre`.
  const isGone = pre !== undefined && post === undefined
  const changed = (name: 'balance' | 'nonce' | 'code') => post?.[name] !== undefined
  return (
    <article class="card log">
      <header>
        <AddressLink address={address} whole />
        {pre === undefined && <span class="badge good">created</span>}
        {isGone && <span class="badge bad">removed</span>}
      </header>
      <dl class="changes">
        {changed('balance') && (
          <Change
            name="balance"
            before={etherOf(pre?.balance)}
            after={etherOf(post?.balance)}
            note={difference(pre?.balance, post?.balance)}
          />
        )}
        {changed('nonce') && <Change name="nonce" before={String(pre?.nonce ?? 0)} after={String(post?.nonce)} />}
        {changed('code') && (
          <Change
            name="code"
            before={`${byteLength(pre?.code ?? '0x')} bytes`}
            after={`${byteLength(post?.code ?? '0x')} bytes`}
          />
        )}
        {slots.map((slot) => (
          <Slot key={slot} slot={slot} before={pre?.storage?.[slot]} after={post?.storage?.[slot]} />
        ))}
      </dl>
    </article>
  )
}

function Change({ name, before, after, note }: { name: string; before: string; after: string; note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span class="number before">{before}</span> <span aria-hidden="true">→</span>
        <span class="hidden">became</span> <span class="number after">{after}</span>{' '}
        {note !== undefined && <span class="quiet number">({note})</span>}
      </dd>
    </div>
  )
}

function Slot({ slot, before = ZERO, after = ZERO }: { slot: string; before?: string; after?: string }) {
  return (
    <div>
      <dt>
        slot <Code text={slot} />
      </dt>
      <dd>
        <code class="whole before">{trimWord(before)}</code> <span aria-hidden="true">→</span>
        <span class="hidden">became</span> <code class="whole after">{trimWord(after)}</code>
      </dd>
    </div>
  )
}

const ZERO = '0x0'

/** Removes the leading zeros of a word. */
function trimWord(word: string): string {
  return `0x${word.slice(2).replace(/^0+(?=.)/, '')}`
}

function etherOf(wei: Hex | undefined): string {
  return `${formatEther(BigInt(wei ?? 0))} ETH`
}

function difference(before: Hex | undefined, after: Hex | undefined): string {
  const change = BigInt(after ?? 0) - BigInt(before ?? 0)
  return `${change > 0n ? '+' : '−'}${formatEther(change < 0n ? -change : change)}`
}
