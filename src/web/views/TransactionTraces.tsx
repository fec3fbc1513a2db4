import { call, callIfServed } from '../client/rpc.js'
import type { AccountState, CallFrame, Hex, StateDiff } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, formatCount, formatEther, formatPlural } from '../format.js'
import { GuessBadge, nameOfDecoded } from '../ui/Decoded.js'
import { Section } from '../ui/Layout.js'
import { Empty, Loaded } from '../ui/States.js'
import { AddressLink, Code, Ether } from '../ui/Value.js'

/** Max frames shown; a transaction may have 100,000. */
const SHOWN_FRAMES = 1000

/** The calls that a transaction made, as a tree. */
export function CallTree({ hash }: { hash: string }) {
  const request = useRequest(() => loadCalls(hash), [hash])
  return (
    <Loaded request={request} what="the internal calls">
      {(frame) => {
        const budget = { left: SHOWN_FRAMES }
        const tree = <Frame frame={frame} budget={budget} />
        return (
          <Section title="Internal calls" note={formatPlural(countFrames(frame), 'frame')}>
            <ul class="tree">{tree}</ul>
            {countFrames(frame) > SHOWN_FRAMES && (
              <p class="quiet">The first {formatCount(SHOWN_FRAMES)} frames are shown. The console has all of them.</p>
            )}
          </Section>
        )
      }}
    </Loaded>
  )
}

async function loadCalls(hash: string): Promise<CallFrame> {
  const decoded = await callIfServed<CallFrame>('cairn_getDecodedCalls', [hash])
  return decoded ?? (await call<CallFrame>('debug_traceTransaction', [hash, { tracer: 'callTracer' }]))
}

function countFrames(frame: CallFrame): number {
  let count = 0
  const open = [frame]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count++
    open.push(...(next.calls ?? []))
  }
  return count
}

function Frame({ frame, budget }: { frame: CallFrame; budget: { left: number } }) {
  if (budget.left-- <= 0) return null
  const { type, to, value = '0x0', gasUsed, input, error, calls = [] } = frame
  const reason = frame.decodedError?.reason ?? frame.revertReason
  return (
    <li>
      <div class="frame">
        <span class={error === undefined ? 'badge' : 'badge bad'}>{type}</span>
        {to !== undefined && <AddressLink address={to} />}
        {BigInt(value) > 0n && <Ether wei={value} />}
        {input.length >= 10 && !type.startsWith('CREATE') && (
          <code title={frame.function ? nameOfDecoded(frame.function) : 'selector'}>
            {frame.function?.name ?? input.slice(0, 10)}
          </code>
        )}
        {frame.function?.isGuess && <GuessBadge />}
        <span class="quiet number">{formatCount(gasUsed)} gas</span>
        <span class="quiet">
          {formatCount(byteLength(input))} B in, {formatCount(byteLength(frame.output ?? '0x'))} B out
        </span>
        {error !== undefined && (
          <span class="bad-text">
            {error}
            {reason !== undefined && `: ${reason}`}
          </span>
        )}
      </div>
      {calls.length > 0 && (
        <ul>
          {calls.map((each, i) => (
            <Frame key={i} frame={each} budget={budget} />
          ))}
        </ul>
      )}
    </li>
  )
}

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
