import { wideView } from '../../store/sql/lakeSql.js'
import { type DerivedColumn, LAKE_VIEWS, type LakeView, type ViewColumn } from '../../store/sql/lakeViews.js'
import { type CteMap, callNode, castNode, type Node, replaceNode, textNode } from './ast.js'
import { callKind, isAggregateName } from './functions.js'
import { isInteger, isText, NotForDuckDb, nameOf, requireComparable, unify, type ValueKind } from './kinds.js'

/** Columns of a table or a result, in order. */
type Columns = readonly (readonly [name: string, kind: ValueKind])[]

/** A table of FROM. */
interface Table {
  readonly name: string
  readonly columns: Columns
  /** For a view: its node, and the view with derived columns. */
  readonly of?: { readonly node: Node; readonly view: LakeView }
}

/** What names mean in an expression. */
interface Scope {
  readonly tables: readonly Table[]
  /** True where an expression may be replaced by a derived column: not beside GROUP BY, but in its aggregates. */
  readonly mayDerive?: boolean
  /** True if the select list has a `*`, which would show derived columns. */
  readonly isStarred?: boolean
  /** Results of the select list; where `first`, names mean them before columns. */
  readonly results?: { readonly columns: Columns; readonly first: boolean }
  readonly ctes: ReadonlyMap<string, Columns>
  readonly outer?: Scope
}

/** The views by name with the kinds of their columns. */
const VIEWS: ReadonlyMap<string, Columns> = new Map(
  LAKE_VIEWS.map(({ name, columns }) => [name, columns.map((column) => [column.name, kindOfColumn(column)] as const)]),
)

function kindOfColumn({ type, isDecimal }: ViewColumn): ValueKind {
  if (type === 'text') return isDecimal ? 'decimal' : 'text'
  return type === 'integer' ? 'int' : 'real'
}

/** Changes the tree of a statement that SQLite accepts too, so that DuckDB's rows are those of SQLite.
 *  @throws NotForDuckDb where that is not known */
export function translate(node: Node): void {
  select(node, { tables: [], ctes: new Map() })
}

/** Returns the columns of a query. */
function select(node: Node, outer: Scope): Columns {
  const ctes = new Map(outer.ctes)
  for (const { key, value } of (node.cte_map as CteMap | undefined)?.map ?? []) {
    const columns = select(value.query.node, { ...outer, tables: [], results: undefined, ctes, outer: undefined })
    ctes.set(key.toLowerCase(), renamed(columns, value.aliases))
  }
  if (node.type === 'SET_OPERATION_NODE') return setOperation(node, { ...outer, ctes })
  if (node.type !== 'SELECT_NODE') throw new NotForDuckDb(`${wordsOf(node.type)} may differ`)
  const tables: Table[] = []
  const isStarred = (node.select_list as Node[]).some((each) => each.class === 'STAR')
  const mayDerive = !isStarred && node.group_expressions.length === 0
  const scope: Scope = {
    tables,
    mayDerive,
    isStarred,
    ctes,
    outer: outer.tables.length > 0 || outer.outer ? outer : undefined,
  }
  from(node.from_table, scope, tables)
  const columns = (node.select_list as Node[]).flatMap((each) => result(each, scope))
  const named: Scope = { ...scope, results: { columns, first: false } }
  if (node.where_clause) condition(node.where_clause, named)
  for (const each of node.group_expressions as Node[]) if (!isPlace(each)) kindOf(each, named)
  if (node.group_sets.length > 1) throw new NotForDuckDb('grouping sets are not known')
  if (node.having) condition(node.having, named)
  if (node.qualify || node.sample) throw new NotForDuckDb('QUALIFY and SAMPLE are not known')
  modifiers(node, { ...scope, results: { columns, first: true } })
  return columns
}

function setOperation(node: Node, scope: Scope): Columns {
  const [left, right] = [select(node.left, scope), select(node.right, scope)]
  const columns = left.map(
    ([name, kind], i) => [name, unify([kind, right[i]?.[1] ?? 'null'], node.setop_type)] as const,
  )
  modifiers(node, { ...scope, tables: [], results: { columns, first: true } })
  return columns
}

function modifiers(node: Node, scope: Scope): void {
  for (const modifier of node.modifiers as Node[]) {
    if (modifier.type === 'ORDER_MODIFIER') {
      for (const { expression } of modifier.orders as { expression: Node }[]) {
        if (!isPlace(expression)) orderKind(expression, scope)
      }
    } else if (modifier.type === 'LIMIT_MODIFIER') {
      for (const bound of [modifier.limit, modifier.offset]) {
        if (bound && !isPlace(bound)) throw new NotForDuckDb('LIMIT and OFFSET need numbers')
      }
    } else if (modifier.type !== 'DISTINCT_MODIFIER' || (modifier.distinct_on_targets?.length ?? 0) > 0) {
      throw new NotForDuckDb(`${wordsOf(modifier.type)} is not known`)
    }
  }
}

/** Inside of an expression, SQLite prefers a column to a result of the same name. */
function orderKind(expression: Node, scope: Scope): void {
  const isName = expression.class === 'COLUMN_REF'
  kindOf(expression, isName ? scope : { ...scope, results: scope.results && { ...scope.results, first: false } })
}

/** Returns true for an integer constant that is not an expression: `ORDER BY 1`. */
function isPlace({ class: kind, value }: Node): boolean {
  return kind === 'CONSTANT' && value.type.id === 'INTEGER' && value.value >= 0
}

function from(table: Node, scope: Scope, tables: Table[]): void {
  if (table.type === 'EMPTY') return
  if (table.sample) throw new NotForDuckDb('SAMPLE is not known')
  if (table.type === 'BASE_TABLE') {
    const name = String(table.table_name).toLowerCase()
    const isPlain = table.catalog_name === '' && (table.schema_name === '' || table.schema_name === 'main')
    const columns = isPlain ? (scope.ctes.get(name) ?? VIEWS.get(name)) : undefined
    if (columns === undefined)
      throw new NotForDuckDb(`${table.table_name} is not one of ${[...VIEWS.keys()].join(', ')}`)
    const view = scope.ctes.has(name) ? undefined : LAKE_VIEWS.find((each) => each.name === name)
    const of = view !== undefined && table.column_name_alias.length === 0 ? { node: table, view } : undefined
    tables.push({ name: (table.alias || name).toLowerCase(), columns: renamed(columns, table.column_name_alias), of })
  } else if (table.type === 'SUBQUERY') {
    const columns = select(table.subquery.node, { ...scope, tables: [], outer: undefined })
    tables.push({ name: (table.alias ?? '').toLowerCase(), columns: renamed(columns, table.column_name_alias) })
  } else if (table.type === 'JOIN') {
    if (!['INNER', 'LEFT'].includes(table.join_type) || !['REGULAR', 'CROSS'].includes(table.ref_type)) {
      throw new NotForDuckDb(`a ${wordsOf(`${table.ref_type} ${table.join_type}`)} JOIN may differ`)
    }
    const first = tables.length
    from(table.left, scope, tables)
    from(table.right, scope, tables)
    for (const name of (table.using_columns ?? []) as string[]) {
      const kinds = tables.slice(first).flatMap(({ columns }) => findColumn(columns, name) ?? [])
      requireComparable(kinds, `USING (${name})`)
    }
    if (table.condition) condition(table.condition, scope)
  } else throw new NotForDuckDb(`${wordsOf(table.type)} in FROM may differ`)
}

/** Returns the columns of an entry of the select list. */
function result(node: Node, scope: Scope): Columns {
  if (node.class !== 'STAR') {
    const kind = kindOf(node, scope)
    return [[node.alias || (node.class === 'COLUMN_REF' ? node.column_names.at(-1) : ''), kind]]
  }
  const wanted = String(node.relation_name).toLowerCase()
  return scope.tables.filter(({ name }) => wanted === '' || name === wanted).flatMap(({ columns }) => columns)
}

function condition(node: Node, scope: Scope): void {
  truth(kindOf(node, scope), 'a condition')
}

/** Requires what both engines take for true or false in the same way. */
function truth(kind: ValueKind, where: string): void {
  if (kind !== 'bool' && !isInteger(kind)) throw new NotForDuckDb(`${where} is ${nameOf(kind)}`)
}

/** Returns the kind of an expression. */
function kindOf(node: Node, scope: Scope): ValueKind {
  const rule = EXPRESSIONS[node.class ?? '']
  if (rule === undefined) throw new NotForDuckDb(`${wordsOf(node.class ?? node.type)} may differ`)
  return rule(node, scope)
}

const EXPRESSIONS: { readonly [name: string]: (node: Node, scope: Scope) => ValueKind } = {
  COLUMN_REF: ({ column_names }, scope) => columnKind(column_names, scope),
  CONSTANT: constantKind,
  CAST: castKind,
  FUNCTION: (node, scope) => {
    if (node.filter) condition(node.filter, scope)
    if (node.order_bys.orders.length > 0) throw new NotForDuckDb('ORDER BY in an aggregate may differ')
    const isAggregate = isAggregateName(node.function_name)
    const mayDerive = isAggregate ? !scope.isStarred : scope.mayDerive
    const kind = callKind(node, kindsOf(node.children, { ...scope, mayDerive }))
    if (node.function_name === 'length') derive(node, 'length', scope)
    return kind
  },
  WINDOW: (node, scope) => {
    const { partitions, orders, filter_expr: filter } = node
    kindsOf(partitions, scope)
    kindsOf(
      (orders as { expression: Node }[]).map(({ expression }) => expression),
      scope,
    )
    if (filter) condition(filter, scope)
    for (const bound of [node.start_expr, node.end_expr])
      if (bound && !isPlace(bound)) throw new NotForDuckDb('a frame needs numbers')
    if ([node.offset_expr, node.default_expr].some(Boolean))
      throw new NotForDuckDb('an offset of LAG or LEAD may differ')
    if (node.ignore_nulls) throw new NotForDuckDb('IGNORE NULLS is not known')
    return callKind(node, kindsOf(node.children, scope))
  },
  COMPARISON: (node, scope) => {
    requireComparable(kindsOf([node.left, node.right], scope), 'a comparison')
    return 'bool'
  },
  BETWEEN: (node, scope) => {
    requireComparable(kindsOf([node.input, node.lower, node.upper], scope), 'BETWEEN')
    return 'bool'
  },
  CONJUNCTION: (node, scope) => {
    for (const kind of kindsOf(node.children, scope)) truth(kind, 'an operand of AND or OR')
    return 'bool'
  },
  OPERATOR: operatorKind,
  CASE: (node, scope) => {
    const checks = node.case_checks as { when_expr: Node; then_expr: Node }[]
    for (const { when_expr } of checks) condition(when_expr, scope)
    return unify(kindsOf([...checks.map(({ then_expr }) => then_expr), node.else_expr], scope), 'CASE')
  },
  SUBQUERY: (node, scope) => {
    const columns = select(node.subquery.node, scope)
    if (node.subquery_type === 'EXISTS' || node.subquery_type === 'NOT_EXISTS') return 'bool'
    if (columns.length !== 1) throw new NotForDuckDb('a subquery has several columns')
    if (node.subquery_type === 'SCALAR') return columns[0][1]
    if (node.subquery_type !== 'ANY')
      throw new NotForDuckDb(`a subquery with ${wordsOf(node.subquery_type)} is not known`)
    requireComparable([kindOf(node.child, scope), columns[0][1]], 'IN')
    return 'bool'
  },
}

function kindsOf(nodes: readonly Node[], scope: Scope): ValueKind[] {
  return nodes.map((each) => kindOf(each, scope))
}

function operatorKind(node: Node, scope: Scope): ValueKind {
  const kinds = kindsOf(node.children, scope)
  switch (node.type) {
    case 'OPERATOR_NOT':
      truth(kinds[0], 'the operand of NOT')
      return 'bool'
    case 'OPERATOR_IS_NULL':
    case 'OPERATOR_IS_NOT_NULL':
      return 'bool'
    case 'COMPARE_IN':
    case 'COMPARE_NOT_IN':
      requireComparable(kinds, 'IN')
      return 'bool'
    case 'OPERATOR_COALESCE':
      return unify(kinds, 'coalesce()')
    default:
      throw new NotForDuckDb(`${wordsOf(node.type)} may differ`)
  }
}

function constantKind(node: Node): ValueKind {
  const { type, is_null, value } = node.value
  if (is_null) return 'null'
  if (type.id === 'VARCHAR') return 'text'
  if (type.id === 'INTEGER' || type.id === 'BIGINT') {
    if (!Number.isSafeInteger(value)) throw new NotForDuckDb('a number is beyond 2^53')
    return 'int'
  }
  if (type.id === 'DOUBLE' || type.id === 'DECIMAL') {
    // DuckDB calculates with decimal places as decimals, SQLite with doubles.
    const text = type.id === 'DOUBLE' ? String(value) : `${value}e-${type.type_info.scale}`
    if (type.id === 'DECIMAL' && !Number.isSafeInteger(value)) throw new NotForDuckDb('a number has too many digits')
    replaceNode(node, castNode(textNode(text), 'DOUBLE'))
    return 'real'
  }
  throw new NotForDuckDb(`constants of type ${type.id} may differ`)
}

function castKind(node: Node, scope: Scope): ValueKind {
  const type = String(node.cast_type.id)
  const isTruth = type === 'BOOLEAN' && node.child.class === 'CONSTANT' // what TRUE and FALSE are parsed as
  if (isTruth) return 'bool'
  const kind = kindOf(node.child, scope)
  const refuse = () => new NotForDuckDb(`CAST of ${nameOf(kind)} AS ${type} may differ`)
  if (node.try_cast || kind === 'bool') throw refuse()
  if (type === 'FLOAT' || type === 'DOUBLE') {
    if (kind === 'text') throw refuse()
    if (!derive({ ...node, children: [node.child] }, 'real', scope, node))
      replaceNode(node, castNode(node.child, 'DOUBLE'))
    return 'real'
  }
  if (type === 'INTEGER' || type === 'BIGINT') {
    if (kind === 'text') throw refuse()
    const isReal = kind === 'real' || kind === 'mixed'
    replaceNode(node, castNode(isReal ? callNode('trunc', [node.child]) : node.child, 'BIGINT'))
    return 'int'
  }
  if (type === 'VARCHAR' && (isText(kind) || isInteger(kind))) return kind === 'text' ? 'text' : 'decimal'
  throw refuse()
}

/** Replaces a call of a column by a derived column of the same table, which becomes the view that has it. Returns false
 *  if it is missing. */
function derive(call: Node, name: DerivedColumn['call'], scope: Scope, node = call): boolean {
  const [child] = call.children as Node[]
  if (!scope.mayDerive || child.class !== 'COLUMN_REF') return false
  const column = child.column_names.at(-1).toLowerCase()
  const table = child.column_names.at(-2)?.toLowerCase()
  if (table === undefined && scope.results?.first && findColumn(scope.results.columns, column)) return false
  const found = scope.tables.find((each) =>
    table === undefined ? findColumn(each.columns, column) : each.name === table,
  )
  const derived = found?.of?.view.derived.find((each) => each.call === name && each.of === column)
  if (found?.of === undefined || derived === undefined) return false
  Object.assign(found.of.node, { table_name: wideView(found.of.view), alias: found.name })
  replaceNode(node, { ...child, column_names: [found.name, derived.name] })
  return true
}

function columnKind(names: readonly string[], scope: Scope): ValueKind {
  const name = names[names.length - 1]
  const table = names.length > 1 ? names[names.length - 2].toLowerCase() : undefined
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    const results = table === undefined && at.results ? findColumn(at.results.columns, name) : undefined
    if (results !== undefined && at.results?.first) return results
    for (const each of at.tables) {
      const found = table === undefined || each.name === table ? findColumn(each.columns, name) : undefined
      if (found !== undefined) return found
    }
    if (results !== undefined) return results
  }
  throw new NotForDuckDb(`no column ${names.join('.')}`)
}

function findColumn(columns: Columns, name: string): ValueKind | undefined {
  const wanted = name.toLowerCase()
  return columns.find(([each]) => each.toLowerCase() === wanted)?.[1]
}

function renamed(columns: Columns, aliases: readonly string[] | undefined): Columns {
  return columns.map(([name, kind], i) => [aliases?.[i] ?? name, kind] as const)
}

function wordsOf(type: string): string {
  return type.toLowerCase().replaceAll('_', ' ')
}
