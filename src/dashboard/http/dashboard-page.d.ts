// The module that `npm run build` makes of the page.
declare module "#dashboard-page" {
  /** JSON with the texts `html`, `js` and `css`, compressed by gzip, in base64. */
  export const packed: string;
}
