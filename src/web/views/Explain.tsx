import { useState } from 'preact/hooks'
import type { Explanation } from '../client/types.js'
import { layOutFunnel, layOutPieces, type Piece } from '../explainPicture.js'
import { formatBytes, formatCount, formatMs, formatPlural } from '../format.js'
import { Section, Table } from '../ui/Layout.js'

const OUTCOMES = {
  answered: 'answered',
  tooMany: 'too many results for eth_getLogs',
  timeout: 'timed out',
  unavailable: 'blocks not available',
}

const PLANS = {
  none: 'A value of the filter was never logged: nothing has to be read.',
  arithmetic: 'Every log of the range matches: the number is known without reading.',
  rows: 'The range is scanned row by row: that is cheaper than the index.',
  index: 'Index segments and the tail yield candidates, whose rows are read.',
}

/** How a log query runs, as a picture of segments and candidates. */
export function ExplainView({ explanation }: { explanation: Explanation }) {
  const { outcome, plan, results, answerBytes, ms, advice } = explanation
  return (
    <Section
      title="Plan"
      note={`${OUTCOMES[outcome]} · ${formatPlural(results, 'log')}${answerBytes === null ? '' : `, ${formatBytes(answerBytes)}`} · ${formatMs(ms.total)}`}
    >
      <p>
        {PLANS[plan]} <span class="quiet">The bars have a logarithmic scale.</span>
      </p>
      <Funnel explanation={explanation} />
      <Pieces explanation={explanation} />
      <Clauses explanation={explanation} />
      <Steps ms={ms} />
      {advice.length > 0 && (
        <ul class="advice">
          {advice.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function Funnel({ explanation }: { explanation: Explanation }) {
  return (
    <dl class="funnel">
      {layOutFunnel(explanation).map(({ name, count, share }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span class="bar" style={{ width: `${Math.max(share * 100, count > 0 ? 1 : 0)}%` }} />
            <span class="number">{formatCount(count)}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Pieces({ explanation }: { explanation: Explanation }) {
  const pieces = layOutPieces(explanation)
  const [chosen, setChosen] = useState<number | undefined>()
  if (pieces.length === 0) return null
  const shown = chosen === undefined ? undefined : pieces[chosen]
  return (
    <>
      <h3>Segments, from the oldest to the newest log</h3>
      <div class="pieces">
        {pieces.map((piece, i) => (
          <button
            key={piece.firstLog}
            type="button"
            class={classOf(piece)}
            style={{ width: `${piece.width / 10}%` }}
            aria-pressed={chosen === i}
            aria-label={describePiece(piece)}
            onClick={() => setChosen(chosen === i ? undefined : i)}
          >
            <span class="heat" style={{ opacity: piece.heat }} />
            {piece.width > 80 && (
              <span class="piece-name">{piece.kind === 'tail' ? 'tail' : `level ${piece.segment!.level}`}</span>
            )}
          </button>
        ))}
      </div>
      <p class="legend">
        <span class="swatch segment" /> segment <span class="swatch disjoint" /> known to hold none{' '}
        <span class="swatch tail" /> tail, not yet in a segment <span class="swatch hot" /> candidates
      </p>
      <div aria-live="polite">
        {shown === undefined ? <p class="quiet">Choose a segment for its figures.</p> : <PieceFacts piece={shown} />}
      </div>
    </>
  )
}

function classOf({ kind, segment }: Piece): string {
  return `piece ${kind}${segment?.disjoint ? ' disjoint' : ''}`
}

function describePiece({ kind, segment, logs, candidates }: Piece): string {
  const name = kind === 'tail' ? 'Tail' : `Segment ${segment!.id}, level ${segment!.level}`
  return `${name}: ${formatCount(logs)} logs, ${formatCount(candidates)} candidates`
}

function PieceFacts({ piece }: { piece: Piece }) {
  const { segment } = piece
  return (
    <>
      <p>
        <strong>{describePiece(piece)}</strong>{' '}
        {segment !== undefined && (
          <span class="quiet">
            blocks {formatCount(segment.fromBlock)} to {formatCount(segment.toBlock)}, {formatMs(segment.ms)}
          </span>
        )}
      </p>
      {segment !== undefined && segment.clauses.length > 0 && (
        <Table
          caption={`Clauses in segment ${segment.id}`}
          columns={[
            'Condition',
            { name: 'Keys', isNumber: true, isWide: true },
            { name: 'Found', isNumber: true },
            { name: 'Logs of them', isNumber: true },
            'Used',
          ]}
          rows={segment.clauses.map(({ member, keys, found, postings, skipped }) => [
            <code key="member">{member}</code>,
            formatCount(keys),
            formatCount(found),
            formatCount(postings),
            skipped === null ? 'yes' : skipped === 'rows' ? 'no, reading rows is cheaper' : 'no, nothing was left',
          ])}
        />
      )}
    </>
  )
}

function Clauses({ explanation: { clauses } }: { explanation: Explanation }) {
  if (clauses.length === 0) return null
  return (
    <>
      <h3>Conditions</h3>
      <Table
        caption="Conditions of the filter"
        columns={[
          'Condition',
          { name: 'Values', isNumber: true },
          { name: 'Ever logged', isNumber: true, isWide: true },
          { name: 'Segments asked', isNumber: true, isWide: true },
          { name: 'Skipped', isNumber: true, isWide: true },
          { name: 'Logs of them', isNumber: true },
        ]}
        rows={clauses.map(({ member, values, known, asked, skipped, postings }) => [
          <code key="member">{member}</code>,
          formatCount(values),
          known === null ? 'not known' : formatCount(known),
          formatCount(asked),
          formatCount(skipped),
          formatCount(postings),
        ])}
      />
    </>
  )
}

function Steps({ ms: { total, ...steps } }: Pick<Explanation, 'ms'>) {
  const spent = Object.entries(steps).filter(([, time]) => time > 0)
  return (
    <p class="quiet">
      Time: {spent.map(([name, time]) => `${name} ${formatMs(time)}`).join(', ') || 'none'}; {formatMs(total)} in all
    </p>
  )
}
