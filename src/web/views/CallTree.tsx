import { useState } from 'preact/hooks'
import { countFrames, failurePath } from '../callTree.js'
import { call, callIfServed } from '../client/rpc.js'
import type { CallFrame } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { byteLength, cutMiddle, formatCount, formatPlural } from '../format.js'
import { Arguments, GuessBadge, nameOfDecoded } from '../ui/Decoded.js'
import { Section } from '../ui/Layout.js'
import { Name } from '../ui/Name.js'
import { Loaded } from '../ui/States.js'
import { AddressLink, Ether } from '../ui/Value.js'

/** Trees up to this size are unfolded at first; of larger ones the first two levels are. */
const UNFOLDED_FRAMES = 60
const UNFOLDED_DEPTH = 2

/** Calls of one frame that are drawn at first, and added by each click on more: a transaction may have 100,000. */
const DRAWN_CALLS = 50

/** Longer arguments are truncated in the tree; the details have them whole. */
const MAX_ARGUMENT = 24
const MAX_ARGUMENTS = 6

/** The calls that a transaction made, as a tree. */
export function CallTree({ hash }: { hash: string }) {
  const request = useRequest(() => loadCalls(hash), [hash])
  return (
    <Loaded request={request} what="the internal calls">
      {(root) => {
        const count = countFrames(root)
        const path = failurePath(root)
        return (
          <Section title="Internal calls" note={formatPlural(count, 'frame')}>
            <ul class="tree">
              <Frame
                frame={root}
                depth={0}
                isUnfolded={count <= UNFOLDED_FRAMES}
                failed={path.length > 1 ? path.at(-1) : undefined}
              />
            </ul>
          </Section>
        )
      }}
    </Loaded>
  )
}

/** Returns the calls of a transaction, decoded where the server can. @throws CallFailed */
export async function loadCalls(hash: string): Promise<CallFrame> {
  const decoded = await callIfServed<CallFrame>('cairn_getDecodedCalls', [hash])
  return decoded ?? (await call<CallFrame>('debug_traceTransaction', [hash, { tracer: 'callTracer' }]))
}

interface FrameProps {
  frame: CallFrame
  depth: number
  isUnfolded: boolean
  /** The frame where the transaction failed, unless that is the first one. */
  failed: CallFrame | undefined
}

function Frame({ frame, depth, isUnfolded, failed }: FrameProps) {
  const { calls = [] } = frame
  const [isOpen, setOpen] = useState(isUnfolded || depth < UNFOLDED_DEPTH)
  const [hasDetails, setDetails] = useState(false)
  const [drawn, setDrawn] = useState(DRAWN_CALLS)
  return (
    <li>
      <div class={frame === failed ? 'frame failed' : 'frame'}>
        {calls.length > 0 ? (
          <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
            <span class="hidden">Calls of this frame, </span>
            {formatCount(calls.length)}
          </button>
        ) : (
          <span class="fold" />
        )}
        <FrameLine frame={frame} isFailed={frame === failed} />
        <button type="button" class="link" aria-expanded={hasDetails} onClick={() => setDetails(!hasDetails)}>
          details
        </button>
      </div>
      {hasDetails && <FrameDetails frame={frame} />}
      {isOpen && calls.length > 0 && (
        <ul>
          {calls.slice(0, drawn).map((each, i) => (
            <Frame key={i} frame={each} depth={depth + 1} isUnfolded={isUnfolded} failed={failed} />
          ))}
          {calls.length > drawn && (
            <li>
              <button type="button" class="link" onClick={() => setDrawn(drawn + DRAWN_CALLS)}>
                Show {formatCount(Math.min(DRAWN_CALLS, calls.length - drawn))} more of {formatCount(calls.length)}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  )
}

function FrameLine({ frame, isFailed }: { frame: CallFrame; isFailed: boolean }) {
  const { type, to, value = '0x0', gasUsed, error } = frame
  const reason = frame.decodedError?.reason ?? frame.revertReason
  return (
    <>
      <span class={error === undefined ? 'badge' : 'badge bad'}>{type}</span>
      {to !== undefined && <AddressLink address={to} copies={false} />}
      <CallText frame={frame} />
      {BigInt(value) > 0n && <Ether wei={value} />}
      <span class="quiet number">{formatCount(gasUsed)} gas</span>
      {error !== undefined && (
        <span class="bad-text break">
          {error}
          {reason !== undefined && (
            <>
              : <bdi>{reason}</bdi>
            </>
          )}
        </span>
      )}
      {isFailed && <span class="badge bad">failed here</span>}
    </>
  )
}

/** The called function with its arguments in short, or its selector. */
export function CallText({ frame: { type, input, function: decoded } }: { frame: CallFrame }) {
  if (type.startsWith('CREATE') || input.length < 10) return null
  if (!decoded) return <code title="selector">{input.slice(0, 10)}</code>
  if (decoded.name === null) {
    return (
      <>
        <code class="break">{nameOfDecoded(decoded)}</code> <GuessBadge />
      </>
    )
  }
  const shown = decoded.args.slice(0, MAX_ARGUMENTS)
  return (
    <>
      <code class="break" title={nameOfDecoded(decoded)}>
        <strong>{decoded.name}</strong>(
        {shown.map(({ name, value }, i) => (
          <span key={i}>
            {i > 0 && ', '}
            {name !== '' && <span class="quiet">{name}: </span>}
            <Name text={shorten(value)} />
          </span>
        ))}
        {decoded.args.length > MAX_ARGUMENTS && ', …'})
      </code>
      {decoded.isGuess && <GuessBadge />}
    </>
  )
}

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (/^0x[\da-f]*$/i.test(text)) return cutMiddle(text, 6, 4)
  return text.length > MAX_ARGUMENT ? `${text.slice(0, MAX_ARGUMENT)}…` : text
}

function FrameDetails({ frame }: { frame: CallFrame }) {
  const { input, output = '0x', from } = frame
  return (
    <div class="frame-details">
      <p class="quiet">
        from <AddressLink address={from} copies={false} />, {formatCount(byteLength(input))} B in,{' '}
        {formatCount(byteLength(output))} B out
      </p>
      {frame.function && <Arguments decoded={frame.function} />}
      {frame.decodedError && <Arguments decoded={frame.decodedError} />}
      {!frame.function && input !== '0x' && <Bytes name="Input" data={input} />}
      {output !== '0x' && <Bytes name={frame.error === undefined ? 'Output' : 'Revert data'} data={output} />}
    </div>
  )
}

/** Longer data are truncated: the code of a created contract has 24 kB. */
const SHOWN_DATA = 1024

function Bytes({ name, data }: { name: string; data: string }) {
  return (
    <p>
      <span class="quiet">{name}</span>{' '}
      <code class="whole">{data.length > SHOWN_DATA ? `${data.slice(0, SHOWN_DATA)}…` : data}</code>
    </p>
  )
}
