// The module that `npm run build` makes of the page.
declare module "#dashboard-page" {
  export const html: string;
  export const js: string;
  export const css: string;
}
