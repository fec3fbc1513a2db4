import type { Decoded, DecodedLog, Log } from '../client/types.js'
import { formatCount, splitWords } from '../format.js'
import { eventOf } from '../logFilter.js'
import { linkTo } from '../routing.js'
import { AddressLink, Code } from './Value.js'

/** A function call with its arguments. */
export function DecodedCall({ decoded }: { decoded: Decoded }) {
  return (
    <div class="decoded">
      <p class="signature">
        <code>{nameOfDecoded(decoded)}</code> {decoded.isGuess && <GuessBadge />}
      </p>
      <Arguments decoded={decoded} />
    </div>
  )
}

/** A log: its event and arguments if decoded, else topics and data. */
export function LogCard({ log }: { log: Log | DecodedLog }) {
  const decoded = 'decoded' in log ? log.decoded : null
  const name = (decoded && nameOfDecoded(decoded)) ?? eventOf(log.topics[0]) ?? 'Unknown event'
  const filter = { address: log.address, topic0: log.topics[0] ?? '' }
  return (
    <article class="card log">
      <header>
        <span class="quiet number">{formatCount(log.logIndex)}</span>
        <strong class="signature">
          <code>{name}</code>
        </strong>
        {decoded?.isGuess && <GuessBadge />}
        <AddressLink address={log.address} />
        <a class="more" href={linkTo('logs', '', filter)}>
          Find more like it
        </a>
      </header>
      {decoded !== null && <Arguments decoded={decoded} />}
      <details open={decoded === null || decoded.signature === null}>
        <summary>Topics and data</summary>
        <RawLog log={log} />
      </details>
    </article>
  )
}

/** Marks a name that no ABI confirms. */
export function GuessBadge() {
  return (
    <span class="badge" title="Named by a signature file, not by an ABI">
      guess
    </span>
  )
}

/** The signature; those of a guess of several, separated by “or”. */
export function nameOfDecoded({ signature, candidates = [] }: Decoded): string {
  return signature ?? candidates.join(' or ')
}

/** Topics and data words. */
function RawLog({ log }: { log: Log }) {
  return (
    <dl class="words">
      {log.topics.map((topic, i) => (
        <Word key={`t${i}`} name={`topic ${i}`} word={topic} />
      ))}
      {splitWords(log.data)
        .slice(0, 64)
        .map((word, i) => (
          <Word key={`d${i}`} name={`data ${i}`} word={word} />
        ))}
    </dl>
  )
}

function Word({ name, word }: { name: string; word: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code class="whole">{word}</code>
      </dd>
    </div>
  )
}

/** The arguments of a function, event or error with their types. */
export function Arguments({ decoded }: { decoded: Decoded }) {
  if (decoded.signature === null) return <p class="quiet">No single signature decodes the data</p>
  if (decoded.args.length === 0) return <p class="quiet">No arguments</p>
  return <ArgumentList args={decoded.args} />
}

/** Values with their names and types. */
export function ArgumentList({ args }: { args: Decoded['args'] }) {
  return (
    <dl class="arguments">
      {args.map(({ name, type, indexed, value }, i) => (
        <div key={i}>
          <dt>
            {name || (args.length > 1 ? `#${i}` : '')}{' '}
            <span class="quiet">
              {type}
              {indexed && ', indexed'}
            </span>
          </dt>
          <dd>
            <Argument type={type} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A decoded value: integers arrive as decimal text, bytes as hex. */
export function Argument({ type, value }: { type: string; value: unknown }) {
  if (type === 'address' && typeof value === 'string') return <AddressLink address={value} whole />
  if (/^u?int\d*$/.test(type) && typeof value === 'string')
    return <span class="number break">{formatCount(value)}</span>
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^bytes\d*$/.test(type) ? <Code text={text} whole={text.length <= 66} /> : <bdi class="break">{text}</bdi>
}
