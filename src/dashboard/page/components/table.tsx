// A table that scrolls inside itself, sorts by its heads, is navigated by keys, and shows its rows as cards on a narrow page.
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../base/keyboard.ts";
import { type Standing, useStanding } from "./standing.ts";

export interface Column<Row> {
  readonly title: string;
  /** What a cell shows. */
  readonly show: (row: Row) => ComponentChildren;
  /** The value that rows are sorted by when the head is clicked; undefined if they cannot be. */
  readonly sort?: (row: Row) => number | string | undefined;
  /** Figures are aligned to the right, with digits of one width. */
  readonly isFigure?: boolean;
  /** In pixels. Columns without a width share the rest. */
  readonly width?: number;
  /** Where a narrow page shows it: on the first or second line of a card. Nowhere if it is left out. */
  readonly line?: 1 | 2;
  /** A longer explanation of the head. */
  readonly hint?: string;
}

export interface TableProps<Row> {
  /** The label of the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Opens a row: a click, or Enter. */
  readonly onOpen?: (row: Row) => void;
  /** Whether a row can be opened; all can if this is left out. */
  readonly isOpenable?: (row: Row) => boolean;
  /** Keeps rows in their place while the user looks. */
  readonly standing?: Standing<Row>;
  /** A class for a row that stands out. */
  readonly classOf?: (row: Row) => string | undefined;
  /** Shown instead of rows if there are none. */
  readonly empty?: ComponentChildren;
  /** A class for the frame. */
  readonly class?: string;
  /** The key of the row that has the focus at first. */
  readonly focused?: string | undefined;
  /** The key of the row whose facts are shown. */
  readonly chosen?: string | undefined;
  /** Whether j, k and Enter navigate it. Of two tables on a page only one has the keys. */
  readonly hasKeys?: boolean;
}

interface Order {
  readonly title: string;
  readonly isDown: boolean;
}

export function Table<Row>(props: TableProps<Row>): VNode {
  const { label, columns, rows, keyOf, empty, hasKeys = true } = props;
  const [order, setOrder] = useState<Order>();
  const frame = useRef<HTMLDivElement>(null);
  const isPointed = useRef(false);
  const isHeld = (): boolean =>
    isPointed.current ||
    Boolean(document.activeElement?.closest("tbody") && frame.current?.contains(document.activeElement));
  const sorted = sorter(columns, order);
  const placed = useStanding({ rows, keyOf, standing: props.standing, sorted, order, isHeld });
  useKeys(hasKeys ? walking(() => frame.current) : []);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div class={`table-frame ${props.class ?? ""}`} ref={frame}>
      <table aria-label={label} style={{ minWidth: `${leastWidth(columns)}px` }}>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} {...(width && { style: { width: `${width}px` } })} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.title} column={column} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody
          onPointerEnter={() => (isPointed.current = true)}
          onPointerLeave={() => (isPointed.current = false)}
        >
          {placed.map(({ key, row, isGone }) => (
            <TableRow
              key={key}
              table={props}
              row={row}
              isGone={isGone}
              isFocused={key === props.focused}
              isChosen={key === props.chosen}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface TableRowProps<Row> {
  readonly table: TableProps<Row>;
  readonly row: Row;
  readonly isGone: boolean;
  /** Whether it takes the focus when it is first shown. */
  readonly isFocused: boolean;
  readonly isChosen: boolean;
}

/** Drawn again only if the row has changed, so that sorting a table only moves its rows. */
function TableRow<Row>({ table, row, isGone, isFocused, isChosen }: TableRowProps<Row>): VNode {
  const element = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isFocused && document.activeElement === document.body) element.current?.focus();
  }, []);
  const { columns, onOpen, isOpenable = () => true, classOf } = table;
  return useMemo(() => {
    const open = onOpen && isOpenable(row) ? () => onOpen(row) : undefined;
    return (
      <tr
        ref={element}
        tabIndex={-1}
        aria-current={isChosen ? "true" : undefined}
        class={[open && "opens", isGone && "gone", classOf?.(row)].filter(Boolean).join(" ")}
        onClick={(event) => !isControl(event) && open?.()}
        onKeyDown={(event) => event.key === "Enter" && !isControl(event) && open?.()}
      >
        {columns.map((column) => (
          <td key={column.title} data-title={column.title} class={cellClass(column)}>
            {column.show(row)}
          </td>
        ))}
      </tr>
    );
  }, [row, columns, isGone, isChosen]);
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly order: Order | undefined;
  readonly onOrder: (order: Order | undefined) => void;
}

/** A click sorts, figures and times in descending order; the third click restores the server's order. */
function Head<Row>({ column, order, onOrder }: HeadProps<Row>): VNode {
  const { title, sort: by, isFigure = false, hint } = column;
  const mine = order?.title === title ? order : undefined;
  const next = (): Order | undefined => {
    if (mine === undefined) return { title, isDown: isFigure };
    return mine.isDown === isFigure ? { title, isDown: !isFigure } : undefined;
  };
  return (
    <th
      scope="col"
      title={hint}
      class={isFigure ? "figure" : undefined}
      aria-sort={mine && (mine.isDown ? "descending" : "ascending")}
    >
      {by === undefined ? (
        title
      ) : (
        <button type="button" onClick={() => onOrder(next())}>
          {title}
        </button>
      )}
    </th>
  );
}

/** A column without a width needs some, too; a table that does not fit scrolls. */
function leastWidth<Row>(columns: readonly Column<Row>[]): number {
  return columns.reduce((sum, { width = 150 }) => sum + width, 0);
}

function cellClass<Row>({ isFigure = false, line }: Column<Row>): string {
  return `${isFigure ? "figure " : ""}${line === undefined ? "wide-only" : `line-${line}`}`;
}

function sorter<Row>(
  columns: readonly Column<Row>[],
  order: Order | undefined,
): ((rows: readonly Row[]) => readonly Row[]) | undefined {
  const by = columns.find(({ title }) => title === order?.title)?.sort;
  if (by === undefined || order === undefined) return undefined;
  const sign = order.isDown ? -1 : 1;
  return (rows) => rows.toSorted((one, other) => sign * compare(by(one), by(other)));
}

function compare(one: number | string | undefined, other: number | string | undefined): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one ?? "").localeCompare(String(other ?? ""));
}

/** A click on a link or a button in a row does not open the row. */
function isControl({ target, currentTarget }: Event): boolean {
  const control = (target as Element).closest("a, button, input");
  return control !== null && (currentTarget as Element).contains(control);
}

function walking(frame: () => HTMLElement | null): Parameters<typeof useKeys>[0] {
  const focus = (pick: (at: number, count: number) => number) => (): boolean => {
    const all = [...(frame()?.querySelectorAll<HTMLElement>("tbody tr") ?? [])];
    const at = all.findIndex((row) => row.contains(document.activeElement));
    const next = all[pick(at, all.length)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    return next !== undefined;
  };
  const down = focus((at) => at + 1);
  const up = focus((at, count) => (at === -1 ? count - 1 : at - 1));
  return [
    { keys: "j", what: "Next row", run: down },
    { keys: "k", what: "Previous row", run: up },
    { keys: "ArrowDown", what: "Next row", run: down },
    { keys: "ArrowUp", what: "Previous row", run: up },
    { keys: "Home", what: "First row", run: focus(() => 0) },
    { keys: "End", what: "Last row", run: focus((_, count) => count - 1) },
    // The row handles the key itself. This binding is for the help.
    { keys: "Enter", what: "Open the row", run: () => false },
  ];
}
