/* Turns the version in the sidebar into a menu where the site has several versions (versions.js of the site's root). */
(function () {
  'use strict';
  const place = document.querySelector('.site-version');
  const versions = window.remxVersions || [];
  if (!place || versions.length < 2) return;
  const menu = document.createElement('select');
  menu.setAttribute('aria-label', place.textContent);
  for (const [name, folder] of versions) {
    const option = new Option(name, folder);
    option.selected = place.textContent.trim().endsWith(name);
    menu.append(option);
  }
  menu.addEventListener('change', () => { location.href = place.dataset.top + menu.value; });
  place.replaceChildren(menu);
}());
